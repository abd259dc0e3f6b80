import ArgumentParser
import TenfourAudioFile
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPackets
import TenfourPlayer
import TenfourPushToTalk
import TenfourRadio

struct Talk: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Talk and listen, with one other station or in a channel.",
        discussion: """
            tenfour talk bob.local         # and at bob.local: tenfour talk alice.local
            tenfour talk family            # a channel saved by tenfour channel new --save
            tenfour talk --link-file family.link

            The microphone is closed at first, because two open microphones near loudspeakers howl.

            Keys: hold space to talk, in terminals that report when a key is released (kitty, foot, WezTerm, Ghostty); elsewhere \
            space opens and closes the microphone. m mutes the speaker, w lists who is here, q quits, ? shows the keys.

            From elsewhere: tenfour ptt opens the microphone, for example by a key binding of the desktop. SIGUSR1 opens it, \
            SIGUSR2 closes it.
            """)

    @Argument(
        help: ArgumentHelp(
            "The station to talk with: a host name or address, with :PORT if the port is not \(RTPDefaults.port); srtp://HOST:PORT; a channel's link; or the name of a saved channel.",
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

    @OptionGroup(title: "Samples without a header") var rawAudio: RawAudioOptions

    @OptionGroup(title: "Microphone") var microphone: MicrophoneOptions
    @OptionGroup(title: "Recording") var recording: RecordOptions
    @OptionGroup var links: LinkOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup(title: "SRTP") var srtp: SRTPOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup(title: "Coding") var coding: CodingOptions
    @OptionGroup(title: "Playing") var playout: PlayoutOptions

    func validate() throws {
        try links.checkPresence(of: partner, named: "<host>")
        try checkPort(port)
    }

    /// Returns the configuration for the partner or channel, and its title for the status line.
    private func conversation() throws -> (RadioConfiguration, title: String, channel: String) {
        let rtpSession = common.rtpSession(payloadType: coding.payloadType)
        let address = try links.address(typed: partner, quiet: common.quiet)
        if case .channel(let link) = address {
            try srtp.checkUnused()
            try coding.checkChannel()
            let configuration = try RadioConfiguration.joining(link, as: .talk, rtpSession: rtpSession, localPort: port)
            return (configuration, "talking in channel \(link.name)\(configuration.meetingPlace)", link.name)
        }
        let (stream, key) = try srtp.stream(at: address, quiet: common.quiet)
        var configuration = try LinkOptions.find(partner) { () throws(RadioError) in
            try RadioConfiguration.talking(with: stream, rtpSession: rtpSession, localPort: port ?? RTPDefaults.port)
        }
        configuration.protection = .init(srtp: key)
        return (configuration, "talking with \(partner ?? stream.host)", stream.host)
    }

    func run() throws {
        try Console.checkStandardOutput([("--output", output), ("--report", common.report)])
        if let input, input.contains("://") {
            throw RadioError(
                .usage,
                "talk --input cannot send a URL: write a file, or - for a pipe, or send the URL with `tenfour send --input`"
            )
        }
        var (configuration, title, channel) = try conversation()
        common.apply(to: &configuration)
        clock.apply(to: &configuration)
        coding.apply(to: &configuration.coding)
        playout.apply(to: &configuration.playout)
        try configuration.checkEncoding()
        microphone.apply(to: &configuration)
        let raw = rawAudio.raw(channelCount: 1)
        configuration.input = input.map { AudioLocation($0).input(raw: raw) } ?? .card(device.name)
        let streamer = try openStreamer(raw, channelCount: configuration.coding.channelCount)
        defer { streamer?.close() }
        if let source = streamer?.source { configuration.input = .sound(AudioInput(source)) }
        configuration.output = .card(device.name)
        if let output { AudioLocation(output).apply(to: &configuration) }
        let recording = try recording.start(&configuration, channel: channel)
        try SessionRunner(
            quiet: common.quiet, verbose: common.verbose, microphone: microphone.settings(), levels: common.levels,
            report: common.report, metrics: common.metrics?.endpoint, recording: recording
        ).run(
            configuration
        ) { _ in
            streamer?.play()
            return title
        }
        if let streamer, case .failed(let error) = streamer.state { throw RadioError(.unavailable, error.description) }
    }

    /// Opens a player for a pipe or a device (`isPipe`) if no raw format is stated. Returns nil for other input, which
    /// the session reads directly.
    private func openStreamer(_ raw: RawFormat?, channelCount: Int) throws(RadioError) -> Streamer? {
        guard let input, raw == nil, isPipe(input) else { return nil }
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
