import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPackets
import TenfourPlayer
import TenfourRadio

struct Send: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send audio to an address or a channel.",
        discussion: """
            tenfour send -D hw:1 rtp://10.0.0.7:5004 --sdp live.sdp
            tenfour send speech.wav rtp://10.0.0.7             # or --input speech.wav
            tenfour send --input live.wav --link-file family.link
            tenfour send --input https://example.org/live.ogg rtp://10.0.0.7
            arecord -f S16_LE -r 48000 | tenfour send --input - rtp://@239.0.1.10:5004
            """)

    @Argument(
        help: ArgumentHelp(
            "Where to send, such as rtp://HOST:PORT; also srtp://HOST:PORT, rtp://@GROUP:PORT for multicast, an SDP file, or a channel's link or name. The audio to send may be written before the address, as in: tenfour send speech.wav rtp://10.0.0.7.",
            valueName: "address"), completion: Completions.destination)
    var address: String?

    /// The second argument: the address, if the input was typed before the address.
    @Argument(help: .hidden, completion: Completions.destination) var addressBehindInput: String?

    @Option(
        name: [.customShort("D"), .long],
        help: ArgumentHelp("The sound card to capture from, by its ALSA name.", valueName: "name"))
    var device = CardName("default")

    @Option(
        help: ArgumentHelp(
            "The sound file or URL to send; - is standard input, alsa:NAME a sound card. Default: the card that -D names.",
            valueName: "source"), completion: Completions.soundFile)
    var input: String?

    @Option(
        help: ArgumentHelp("Write an SDP file for other players; - is standard output.", valueName: "file"),
        completion: .file(extensions: ["sdp"]))
    var sdp: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The port to send from, 1 to 65535; 0 lets the system choose.", valueName: "port"))
    var port: UInt16 = 0

    @Option(
        help: ArgumentHelp(
            "How long the other end waits for retransmissions, if it does not report this itself; a bare number is in milliseconds. Default: 100ms.",
            valueName: "time"))
    var maxLatency: Time<BareMilliseconds>?

    @Option(help: ArgumentHelp("How many routers a multicast packet may pass (TTL).", valueName: "hops"))
    var ttl: UInt8 = 1

    @Option(name: .shortAndLong, help: ArgumentHelp("1 for mono, 2 for stereo.", valueName: "count"))
    var channels: Int?

    @Flag(help: "Do not show the waveform of a file above the status line, and leave the mouse to the terminal.")
    var noWaveform = false

    @OptionGroup(title: "Samples without a header") var rawAudio: RawAudioOptions
    @OptionGroup var links: LinkOptions
    @OptionGroup var wait: HostWaitOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup(title: "SRTP") var srtp: SRTPOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup(title: "Coding") var coding: CodingOptions
    @OptionGroup(title: "Downloading") var download: DownloadOptions

    mutating func validate() throws {
        try parseInputBeforeAddress()
        try links.checkPresence(of: address, named: "<address>")
        if let channels, !(1...2).contains(channels) {
            throw ValidationError("--channels \(channels) is not supported: write 1 or 2.")
        }
        try download.fetch.checkHeaders(for: input.map { [$0] } ?? [])
        try checkDepth(maxLatency?.duration, of: "--max-latency")
    }

    /// Interprets `send FILE ADDRESS` as `send --input FILE ADDRESS`, and `send FILE --link-file LINK` likewise.
    private mutating func parseInputBeforeAddress() throws {
        guard let first = address, input == nil || addressBehindInput != nil else { return }
        if let behind = addressBehindInput {
            guard input == nil else {
                throw ValidationError(
                    "--input and '\(first)' before the address both name the audio to send: write only one of them.")
            }
            (input, address) = (first, behind)
        } else if ArgumentHint.isAudioFile(first), SecretFile.link(namedBy: first) == nil {
            guard links.isGiven else {
                throw ValidationError(
                    "'\(first)' is a file, and the address to send it to is missing: write rtp://HOST:PORT after it.")
            }
            (input, address) = (first, nil)
        }
    }

    private var raw: RawFormat? { rawAudio.raw(channelCount: channels ?? 1) }

    /// Returns the configuration for the destination, and its title for the status line.
    private func destination() throws -> (RadioConfiguration, title: String) {
        let rtpSession = common.rtpSession(payloadType: coding.payloadType)
        let host = HostWait(isPatient: wait.wait || links.isSaved(address), limit: common.duration?.duration)
        if let address, address.hasSuffix(".sdp") {
            try srtp.checkUnused()
            let configuration = try RadioConfiguration.sending(
                to: TextFile.readDescription(address), in: coding.codec.encoding, rtpSession: rtpSession,
                localPort: port, multicastInterface: common.interface, timeToLive: ttl)
            return (configuration, "sending to \(address)")
        }
        let place = try links.address(typed: address, quiet: common.quiet)
        if case .channel(let link) = place {
            try srtp.checkUnused()
            try coding.checkChannel()
            guard sdp == nil else {
                throw RadioError(
                    .usage,
                    "--sdp describes a stream for other programs, and they cannot join a channel: leave --sdp out"
                )
            }
            let configuration = try host.find { () throws(RadioError) in
                try RadioConfiguration.entering(
                    link, as: .talk, rtpSession: rtpSession, localPort: port == 0 ? nil : port)
            }
            let name = links.name(of: link, typed: address)
            return (configuration, "sending to channel \(name)\(configuration.meetingPlace)")
        }
        let (stream, key) = try srtp.stream(at: place, quiet: common.quiet)
        var configuration = try host.find { () throws(RadioError) in
            try LinkOptions.find(address) { () throws(RadioError) in
                try RadioConfiguration.sending(
                    to: stream, rtpSession: rtpSession, localPort: port, multicastInterface: common.interface,
                    timeToLive: ttl)
            }
        }
        configuration.protection = .init(srtp: key)
        return (configuration, "sending to \(address ?? stream.host)")
    }

    func run() throws {
        try Console.checkStandardOutput([("--sdp", sdp), ("--report", common.report)])
        var (configuration, title) = try destination()
        common.apply(to: &configuration)
        clock.apply(to: &configuration)
        if let maxLatency { configuration.playout.maximumRecoveryDelay = maxLatency.duration }
        coding.apply(to: &configuration.coding)
        if let channels { configuration.coding.channelCount = channels }
        try configuration.checkEncoding()
        configuration.input = input.map { AudioLocation($0).input(raw: raw) } ?? .card(device.name)
        let streamer = try openStreamer(channelCount: configuration.coding.channelCount)
        defer { streamer?.close() }
        if let source = streamer?.source { configuration.input = .sound(AudioInput(source, name: input)) }
        let description = SessionDescription(of: configuration, name: common.typedName ?? "tenfour")
        if let sdp {
            try TextFile.write(description.text(), to: sdp, isSecret: !description.cryptos.isEmpty)
        }
        let runner = SessionRunner(
            quiet: common.quiet, verbose: common.verbose, display: common.display, report: common.report,
            metrics: common.metricsSettings, streamer: streamer)
        let end = Result {
            try runner.run(configuration) { _ in
                streamer?.play()
                return title
            }
        }
        // The failure of the input is the reason for the end, also where nobody receives yet.
        try SentAudio.checkEnd(of: streamer)
        try end.get()
    }

    /// Opens a player for a URL, a file and a pipe. Returns nil for other input, which the session reads directly, as it
    /// arrives: a card, WAV on standard input, and samples whose raw format is stated.
    private func openStreamer(channelCount: Int) throws(RadioError) -> Streamer? {
        guard let input, raw == nil || isAddress(input), isPlayedInput(input) else { return nil }
        return try SentAudio.open(AudioLocation(input).path, channelCount: channelCount) {
            if !common.quiet, !noWaveform, common.display != .plain { WaveformPanel.configure(&$0) }
            $0.startAfter = download.startAfter.duration
            download.apply(to: &$0.download, waitsForLive: true)
        }
    }
}

/// Returns whether `input` is opened by the player: an address, a file, a pipe or device, or standard input that does not
/// begin with the header of WAV. A missing file is the player's, too, since it says what is wrong.
func isPlayedInput(_ input: String) -> Bool {
    if isAddress(input) { return true }
    guard case .file(let path) = AudioLocation(input) else { return false }
    return path != "-" || !StandardInput.isWAV
}

/// Returns whether `input` is standard input, or a named pipe or device. Such input can only be read once and in order.
func isPipe(_ input: String) -> Bool {
    guard case .file(let path) = AudioLocation(input) else { return false }
    if path == "-" { return true }
    var status = stat()
    return unsafe path.withPath { unsafe stat($0, &status) } == 0
        && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
}
