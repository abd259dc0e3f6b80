import ArgumentParser
import TenfourAudioFile
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPackets
import TenfourPlayer
import TenfourPushToTalk
import TenfourRadio
import TenfourSession

struct Talk: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Talk and listen, with one other station or in a channel.",
        discussion: """
            tenfour talk                   # who is near: a digit calls (or: tenfour pair)
            tenfour talk bob.local         # and at bob.local: tenfour talk alice.local
            tenfour talk family            # a channel saved by tenfour channel new --save
            tenfour talk --link-file family.link

            The microphone is closed at first, because two open microphones near loudspeakers howl.

            Keys: hold space to talk, in terminals that report when a key is released (kitty, foot, WezTerm, Ghostty); elsewhere \
            space opens and closes the microphone. r plays the last transmission again, q quits, \
            ? shows all keys.

            From elsewhere: tenfour ptt opens the microphone, for example by a key binding of the desktop. SIGUSR1 opens it, \
            SIGUSR2 closes it.
            """)

    @Argument(
        help: ArgumentHelp(
            "The station to talk with: a host name or address, with :PORT if the port is not \(RTPDefaults.port); srtp://HOST:PORT; a channel's link; or the name of a saved channel. Default: lists the stations nearby, and waits for calls.",
            valueName: "host"), completion: Completions.channel)
    var partner: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The port to receive on, 1 to 65535. Default: \(RTPDefaults.port), or any port in a channel with a relay.",
            valueName: "port"))
    var port: UInt16?

    @Option(
        name: [.customShort("D"), .long],
        help: ArgumentHelp("The sound card to capture from and to play on, by its ALSA name.", valueName: "name"))
    var device = CardName("default")

    @Option(
        help: ArgumentHelp(
            "Send this sound file instead of the microphone; - is standard input, alsa:NAME another card.",
            valueName: "source"
        ), completion: Completions.soundFile)
    var input: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write audio to this WAV file instead of playing it; - is standard output, alsa:NAME plays it on another card.",
            valueName: "destination"), completion: .file(extensions: ["wav"]))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Hear this saved channel, too; with :duck it is lowered while another channel is heard.",
            valueName: "channel"), completion: Completions.channel)
    var monitor: [MonitorOption] = []

    @OptionGroup(title: "Samples without a header") var rawAudio: RawAudioOptions

    @OptionGroup(title: "Stations nearby") var lobby: LobbyOptions
    @OptionGroup(title: "Microphone") var microphone: MicrophoneOptions
    @OptionGroup(title: "Voice") var voice: VoiceOptions
    @OptionGroup(title: "Recording") var recording: RecordOptions
    @OptionGroup var links: LinkOptions
    @OptionGroup var wait: HostWaitOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup(title: "SRTP") var srtp: SRTPOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup(title: "Coding") var coding: CodingOptions
    @OptionGroup(title: "Playing") var playout: PlayoutOptions

    func validate() throws {
        try lobby.checkNames()
        try lobby.checkUnused(withAddress: partner != nil, orLink: links.isGiven)
        try checkPort(port)
        if monitor.count > 8 { throw ValidationError("--monitor takes at most 8 channels") }
    }

    /// Returns the configuration for the partner or channel, and its title for the status line.
    private func conversation(
        waitingBy host: HostWait
    ) throws -> (RadioConfiguration, title: String, channel: String) {
        let rtpSession = common.rtpSession(payloadType: coding.payloadType)
        let address = try links.address(typed: partner, quiet: common.quiet)
        if case .channel(let link) = address {
            try srtp.checkUnused()
            try coding.checkChannel()
            let configuration = try host.find { () throws(RadioError) in
                try RadioConfiguration.entering(link, as: .talk, rtpSession: rtpSession, localPort: port)
            }
            let name = links.name(of: link, typed: partner)
            return (configuration, "talking in channel \(name)\(configuration.meetingPlace)", name)
        }
        let (stream, key) = try srtp.stream(at: address, quiet: common.quiet)
        var configuration = try host.find { () throws(RadioError) in
            try LinkOptions.find(partner) { () throws(RadioError) in
                try RadioConfiguration.talking(
                    with: stream, rtpSession: rtpSession, localPort: port ?? RTPDefaults.port)
            }
        }
        configuration.protection = .init(srtp: key)
        return (configuration, "talking with \(partner ?? stream.host)", stream.host)
    }

    func run() throws { try run(as: nil) }

    /// Whether stations find each other, and no station or channel is named.
    private var waitsForCalls: Bool { partner == nil && !links.isGiven }

    /// Throws if a station without a terminal could never talk.
    func checkService() throws(RadioError) {
        guard waitsForCalls, lobby.autoAnswer.isEmpty else { return }
        throw RadioError(
            .usage,
            "nobody can answer calls here: write talk = HOST, or auto-answer = yes (or = NAME) in the section [stations]"
        )
    }

    /// Runs in the terminal, or without one as `service`.
    func run(as service: RadioService?) throws {
        try begin()
        if waitsForCalls {
            return try withControl(of: service) { try TalkLobby(self, service, $0).run() }
        }
        // A service starts its sessions again by itself.
        let isPatient = service == nil && (wait.wait || links.isSaved(partner))
        let (configuration, title, channel) = try conversation(
            waitingBy: HostWait(isPatient: isPatient, limit: common.duration?.duration))
        try withControl(of: service) {
            try hold(configuration, title: title, channel: channel, as: service, $0)
        }
    }

    /// Makes a channel with another station, and talks in it.
    func pair(_ request: PairingRequest) throws {
        try begin()
        try withControl(of: nil) { try TalkLobby(self, nil, $0, pairing: request).run() }
    }

    private func begin() throws {
        TalkSignals.begin()
        try Console.checkStandardOutput([("--output", output), ("--report", common.report)])
        guard let input, input.contains("://") else { return }
        throw RadioError(
            .usage,
            "--input cannot send a URL here: write a file, or - for a pipe, or send the URL with `tenfour send --input`"
        )
    }

    /// Calls `body` with what makes the station reachable for other programs: that of the service, or one of its own.
    private func withControl(of service: RadioService?, _ body: (StationControl) throws -> Void) throws {
        if let service { return try body(service.control) }
        let control = StationControl(metrics: common.metricsSettings)
        defer { control.stop() }
        try control.metrics?.open()
        try body(control)
    }

    /// Holds a session with the options' settings, until it ends or the person ends it. `title` describes it, and
    /// `channel` is the channel's name, or that of the other end. `quitting` says what the key q does. `namelessPair` is
    /// renamed after the first member that appears. `began` is called when the session has started.
    func hold(
        _ configuration: RadioConfiguration, title: String, channel: String, as service: RadioService?,
        _ control: StationControl,
        until end: ContinuousClock.Instant? = nil, quitting: String = "q quits",
        renaming namelessPair: NamelessPair? = nil, began: (RadioSession) -> Void = { _ in }
    ) throws {
        var configuration = configuration
        try apply(to: &configuration)
        if let end { configuration.duration = max(end - .now, .zero) }
        let streamer = try openStreamer(channelCount: configuration.coding.channelCount)
        defer { streamer?.close() }
        if let source = streamer?.source { configuration.input = .sound(AudioInput(source, name: input)) }
        let recording = try recording.start(&configuration, channel: channel)
        try SessionRunner(
            quiet: common.quiet, verbose: common.verbose, microphone: microphone.settings(), display: common.display,
            report: common.report, recording: recording,
            channel: channel, monitors: monitoredChannels(),
            control: control, service: service, quitting: quitting, namelessPair: namelessPair
        ).run(
            configuration
        ) { session in
            began(session)
            streamer?.play()
            return title
        }
        try SentAudio.checkEnd(of: streamer)
    }

    /// Throws if a session cannot open its sound cards, or the files of --input and --output. Opens none of them for long, and
    /// no pipe, which can be opened only once.
    func checkSound() throws {
        var configuration = RadioConfiguration(
            local: Endpoint(.anyV6, port: 0), rtpSession: common.rtpSession(payloadType: coding.payloadType))
        try apply(to: &configuration)
        try configuration.checkCards()
        try openStreamer(channelCount: configuration.coding.channelCount)?.close()
        if let output, case .file(let path) = AudioLocation(output), !isPipe(output) { _ = try OutputFile(path: path) }
    }

    /// Applies the options about sound and packets.
    private func apply(to configuration: inout RadioConfiguration) throws {
        common.apply(to: &configuration)
        clock.apply(to: &configuration)
        coding.apply(to: &configuration.coding)
        playout.apply(to: &configuration.playout)
        try configuration.checkEncoding()
        microphone.apply(to: &configuration)
        voice.apply(to: &configuration, isOpen: microphone.open)
        configuration.input = input.map { AudioLocation($0).input(raw: raw) } ?? .card(device.name)
        configuration.output = .card(device.name)
        if let output { AudioLocation(output).apply(to: &configuration) }
    }

    private var raw: RawFormat? { rawAudio.raw(channelCount: 1) }

    /// Opens the channels of --monitor.
    private func monitoredChannels() throws -> [MonitoredChannel] {
        let rtpSession = common.rtpSession()
        return try monitor.map { option in
            let link = try option.link()
            let talking = input == nil ? try? RadioConfiguration.entering(link, as: .talk, rtpSession: rtpSession) : nil
            var configuration = try talking ?? .entering(link, as: .listen, rtpSession: rtpSession)
            try apply(to: &configuration)
            configuration.beginsOpen = false
            if talking == nil { configuration.input = nil }
            let reason = input == nil ? "its link lets you listen only" : "--input goes to the first channel only"
            let obstacle = talking == nil ? reason : nil
            if output != nil { configuration.recording = nil }
            let recording = try recording.start(&configuration, channel: option.name)
            return MonitoredChannel(
                name: option.name, configuration: configuration, ducks: option.ducks, obstacle: obstacle,
                recording: recording)
        }
    }

    /// Opens a player for an address, a file or a pipe (`isPlayedInput`) if no raw format is stated. Returns nil for other
    /// input, which the session reads directly.
    private func openStreamer(channelCount: Int) throws(RadioError) -> Streamer? {
        guard let input, raw == nil, isPlayedInput(input) else { return nil }
        return try SentAudio.open(AudioLocation(input).path, channelCount: channelCount)
    }
}

extension AudioLocation {
    func input(raw: RawFormat?) -> RadioConfiguration.Input {
        switch self {
        case .card(let name): .card(name)
        case .file(let path): .file(path, raw: raw)
        }
    }

    /// Makes this location the only output: with a file, no card is opened.
    func apply(to configuration: inout RadioConfiguration) {
        switch self {
        case .card(let name): configuration.output = .card(name)
        case .file(let path):
            configuration.output = .clock
            configuration.recording = .file(path)
        }
    }
}
