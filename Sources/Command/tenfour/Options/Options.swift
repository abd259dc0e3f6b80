public import ArgumentParser
import TenfourAudioCore
import TenfourAudioFile
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPackets
import TenfourRadio
public import TenfourSession

/// The options of every session.
struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Settings for a network or a purpose: lan, wifi, internet, quality, music or lowest.", discussion: profiles
        ))
    var profile: Profile = .lan

    @Option(help: "The name that others see. Default: your login name.")
    var name: String?

    @Flag(help: "Hide your name: others see that somebody is present, but not who.")
    var anonymous = false

    @Option(
        help: ArgumentHelp(
            "Where reports (RTCP) go: mux (the port of the media), next (the port above it) or off.",
            valueName: "mux|next|off"))
    var rtcp: ControlPortChoice = .mux

    @Option(
        help: ArgumentHelp(
            "Protection against packet loss: auto (depends on the loss that the other end reports), off, copy (each packet carries copies of earlier ones), nack (lost packets are retransmitted).",
            valueName: "auto|off|copy|nack"))
    var defence: LossProtectionConfiguration.Mode = .auto

    @Option(
        help: ArgumentHelp("The network interface for multicast, such as eth0.", valueName: "name"),
        completion: Completions.networkInterface)
    var interface: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Stop after this time, such as 90s, 5m or 1h30m; a bare number is in seconds.", valueName: "time"))
    var duration: Time<BareSeconds>?

    @Option(
        help: ArgumentHelp(
            "At the end, write a call quality report as JSON, per second and for the whole session, with a score from 1 to 4.4; - is standard output.",
            valueName: "file"), completion: .file(extensions: ["json"]))
    var report: String?

    @Option(help: MetricsAddress.help)
    var metrics: MetricsAddress?

    @Option(help: HTTPHostName.help)
    var httpHost: [HTTPHostName] = []

    /// Where the session serves its metrics; nil if it does not.
    var metricsSettings: MetricsSettings? { MetricsSettings(metrics, httpHost) }

    @Flag(
        name: [.customShort("V"), .long], help: "Show a live level meter of the last seconds; lost audio is red."
    )
    var levels = false

    @Flag(help: "Print lines only, for a screen reader: no status line. The key s shows the state.")
    var plain = false

    /// How the state of the session is shown.
    var display: SessionDisplay { plain || Terminal.isDumb ? .plain : levels ? .levels : .statusLine }

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print more messages.")
    var verbose = false

    private static var profiles: String {
        Profile.allCases.map { "\($0.rawValue): \($0.summary)." }.joined(separator: " ")
    }

    func validate() throws {
        guard anonymous, name != nil else { return }
        throw ValidationError("--anonymous hides your name, and --name sets one: write only one of these two options.")
    }

    /// The name that other talkers and members see; nil if `--anonymous` is given.
    private var shownName: String? { anonymous ? nil : typedName.map { String($0.prefix(64)) } ?? LoginName.current }

    /// The value of `--name`, with U+FFFD in place of bytes that are no UTF-8.
    var typedName: String? { name?.replacingPathBytes }

    /// Returns the configuration of a session. If a payload type is given, no other one is taken for Opus.
    func rtpSession(payloadType: UInt8? = nil) -> RTPSessionConfiguration {
        var rtpSession = RTPSessionConfiguration(
            payloadType: payloadType ?? RTPDefaults.opusPayloadType, controlPort: rtcp.controlPort, name: shownName)
        rtpSession.recognisesOpus = payloadType == nil
        return rtpSession
    }

    func apply(to configuration: inout RadioConfiguration) {
        profile.apply(to: &configuration)
        configuration.rtpSession.lossProtection.mode = defence
        configuration.duration = duration?.duration
    }
}

enum ControlPortChoice: String, ExpressibleByArgument, CaseIterable {
    case mux, next, off

    var controlPort: RTPSessionConfiguration.ControlPort {
        switch self {
        case .mux: .multiplexed
        case .next: .next
        case .off: .none
        }
    }
}

/// The options of the encoder.
struct CodingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The codec; pcmu and pcma are for telephones, loudspeakers and intercoms that speak only G.711 (8 kHz, mono, 64 kbit/s).",
            valueName: "opus|pcmu|pcma"))
    var codec: CodecChoice = .opus

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Bit rate of Opus, 6k to 510k; a bare number is in kbit/s, or if above 1000 in bit/s.",
            valueName: "rate"))
    var bitrate: BitRate?

    @Option(
        help: ArgumentHelp(
            "Duration of a packet: 2.5ms, 5ms, 10ms, 20ms, 40ms or 60ms; a bare number is in milliseconds.",
            valueName: "time"),
        completion: .list(CodingSettings.frames.map { text(of: $0).replacing(" ", with: "") }))
    var frame: Time<BareMilliseconds>?

    @Option(help: ArgumentHelp("In-band FEC: auto (on when loss is expected), on or off.", valueName: "auto|on|off"))
    var fec: FECChoice = .auto

    @Option(help: ArgumentHelp("Expected packet loss, in percent.", valueName: "percent"))
    var expectLoss: Int?

    @Flag(exclusivity: .chooseLast, help: "Tune the codec for speech or for music.")
    var content: ContentChoice?

    @Option(
        help: ArgumentHelp(
            "The channel of a stereo source to send: left, right, or a mix of both.",
            valueName: "left|right|mix"))
    var captureChannel: CaptureChannel?

    @Option(help: ArgumentHelp("The RTP payload type of Opus, 96 to 127; 111 unless given.", valueName: "number"))
    var payloadType: UInt8?

    func validate() throws {
        try checkCodec()
        if let frame, !CodingSettings.frames.contains(frame.duration) {
            throw ValidationError(
                "--frame \(text(of: frame.duration)) is not a possible duration of a packet: write 2.5ms, 5ms, 10ms, 20ms, 40ms or 60ms."
            )
        }
        if let expectLoss, !(0...100).contains(expectLoss) {
            throw ValidationError("--expect-loss \(expectLoss) is not a percentage: write a number from 0 to 100.")
        }
        try checkPayloadType(payloadType)
        if let bitrate, let frame {
            let byteCount = Double(bitrate.bitsPerSecond) / 8 * (frame.duration / .seconds(1))
            guard byteCount <= Double(RTPSession.maximumPayloadByteCount) else {
                throw ValidationError(
                    "\(text(of: frame.duration)) at \(bitrate.defaultValueDescription)bit/s do not fit into a packet: write a shorter --frame or a lower --bitrate."
                )
            }
        }
    }

    /// Throws if an option for Opus is given with a G.711 codec.
    private func checkCodec() throws {
        guard codec != .opus else { return }
        let given: [(String, Bool)] = [
            ("--bitrate", bitrate != nil), ("--fec on", fec == .on), ("--expect-loss", expectLoss != nil),
            ("--\(content?.rawValue ?? "")", content != nil),
        ]
        guard let option = given.first(where: \.1)?.0 else { return }
        throw ValidationError("\(option) is only for Opus, and --codec is \(codec.rawValue): leave \(option) out.")
    }

    /// Throws if the codec is G.711, which channels do not support. Called before the channel's host is looked up.
    func checkChannel() throws(RadioError) {
        guard codec == .opus else { throw RadioError(inChannel: codec.encoding) }
    }

    func apply(to coding: inout CodingSettings) {
        coding.encoding = codec.encoding
        if let bitrate { coding.bitRate = bitrate.bitsPerSecond }
        if let frame { coding.frame = frame.duration }
        if let expectLoss { coding.expectedLoss = expectLoss }
        if let captureChannel { coding.captureChannel = captureChannel }
        switch fec {
        case .auto: coding.fec = .automatic
        case .on: coding.fec = .on
        case .off: coding.fec = .off
        }
        switch content {
        case .none: break
        case .speech: coding.content = .speech
        case .music: coding.content = .music
        }
    }
}

enum CodecChoice: String, ExpressibleByArgument, CaseIterable {
    case opus, pcmu, pcma

    var encoding: AudioEncoding {
        switch self {
        case .opus: .opus
        case .pcmu: .pcmu
        case .pcma: .pcma
        }
    }
}

enum FECChoice: String, ExpressibleByArgument, CaseIterable { case auto, on, off }
enum ContentChoice: String, EnumerableFlag { case speech, music }

extension LossProtectionConfiguration.Mode: ExpressibleByArgument {}
extension CaptureChannel: ExpressibleByArgument {}
extension DecoderChoice: ExpressibleByArgument {}

/// The options of playout.
struct PlayoutOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Depth of the jitter buffer: auto (up to 1 s), or a fixed time up to 5s, such as 60ms; a bare number is in milliseconds.",
            valueName: "auto|time"))
    var jitter: Jitter?

    @Option(
        help: ArgumentHelp(
            "Maximum depth of the jitter buffer, at most 5s; a bare number is in milliseconds. After a longer drop-out, older audio is dropped. Default: 1 s, and 5 s after the network has stood still; waiting for retransmissions raises the depth to 100 ms at most.",
            valueName: "time"))
    var maxLatency: Time<BareMilliseconds>?

    @Option(
        name: [.customShort("F"), .long],
        help: ArgumentHelp("Period of the sound card; a bare number is in microseconds.", valueName: "time")
    )
    var periodTime: Time<BareMicroseconds>?

    @Option(
        help: ArgumentHelp(
            "Neural models of libopus 1.5 for decoding: plain uses none, plc replaces lost frames, full also enhances speech, auto uses the models that the library has and that this machine runs fast enough.",
            valueName: "auto|plain|plc|full"))
    var decoder: DecoderChoice = .auto

    func validate() throws {
        if let periodTime, !(.milliseconds(1) ... .milliseconds(100)).contains(periodTime.duration) {
            throw ValidationError("--period-time \(text(of: periodTime.duration)) is out of range: write 1ms to 100ms.")
        }
        try checkDepth(jitter?.depth, of: "--jitter")
        try checkDepth(maxLatency?.duration, of: "--max-latency")
    }

    func apply(to playout: inout PlayoutSettings) {
        switch jitter {
        case .none: break
        case .auto: playout.fixedDelay = nil
        case .fixed(let depth): playout.fixedDelay = depth
        }
        if let maxLatency {
            playout.maximumDelay = maxLatency.duration
            playout.longestStall = maxLatency.duration
            playout.maximumRecoveryDelay = maxLatency.duration
        }
        if let periodTime { playout.period = periodTime.duration }
        playout.decoder = decoder
    }
}

/// The location of input or output audio: `alsa:NAME` is a sound card; any other text is a file's path, with an
/// optional `file:` before it; `-` is standard input or output.
enum AudioLocation {
    case card(String)
    case file(String)

    init(_ text: String) {
        if text.hasPrefix("alsa:") {
            self = .card(CardName(text).name)
        } else {
            self = .file(Self.path(of: text))
        }
    }

    /// Returns the path. `file:///a%20b` is a percent-encoded URL, `file:song.wav` a plain path.
    private static func path(of text: String) -> String {
        guard text.hasPrefix("file:") else { return text }
        if text.hasPrefix("file:/"), case .file(let path) = try? Resource(text) { return path }
        return String(text.dropFirst(5))
    }
}

/// A sound card by its ALSA name, with an optional `alsa:` or `alsa://` before it.
struct CardName: ExpressibleByArgument, CustomStringConvertible {
    let name: String

    init(_ text: String) {
        var name = text[...]
        if name.hasPrefix("alsa:") { name = name.dropFirst(5) }
        if name.count < text.count, name.hasPrefix("//") { name = name.dropFirst(2) }
        self.name = String(name)
    }

    init?(argument: String) { self.init(argument) }

    var description: String { name }
}
