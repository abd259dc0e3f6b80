import ArgumentParser
import TenfourAudioFile
import TenfourCommandSupport
import TenfourPackets
import TenfourRadio
import TenfourSession

struct Recv: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receive a stream and play or write it.",
        discussion: """
            tenfour recv rtp://:5004 -D default
            tenfour recv live.sdp -o heard.wav
            tenfour recv rtp://@239.0.1.10:5004 -o - | aplay -f S16_LE -r 48000
            tenfour recv srtp://:5004 --srtp-key-file key
            tenfour recv rtp://:5004 --rate 0.9 --pitch -300
            """)

    @Argument(
        help: ArgumentHelp(
            "Where to receive, such as rtp://:PORT; also srtp://:PORT, rtp://@GROUP:PORT for multicast, or an SDP file.",
            valueName: "address"), completion: .file(extensions: ["sdp"]))
    var address: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The port to receive on, 1 to 65535, if the address names none.", valueName: "port"))
    var port: UInt16?

    @Option(
        help: ArgumentHelp(
            "The RTP payload type of Opus, 96 to 127, without an SDP file; otherwise 111, and others whose packets are Opus.",
            valueName: "number"))
    var payloadType: UInt8?

    @OptionGroup var outputs: OutputOptions
    @OptionGroup(title: "Recording") var recording: RecordOptions
    @OptionGroup(title: "SRTP") var srtp: SRTPOptions
    @OptionGroup var common: CommonOptions
    @OptionGroup(title: "Playing") var playout: PlayoutOptions
    @OptionGroup(title: "Time and pitch") var timePitch: TimePitchOptions

    func validate() throws {
        try checkPort(port)
        try checkPayloadType(payloadType)
    }

    func run() throws {
        try Console.checkStandardOutput([("--output", outputs.output), ("--report", common.report)])
        var (configuration, title) = try source()
        common.apply(to: &configuration)
        playout.apply(to: &configuration.playout)
        timePitch.apply(to: &configuration.playout)
        outputs.apply(to: &configuration)
        let recording = try recording.start(&configuration, channel: "rtp")
        try SessionRunner(
            quiet: common.quiet, verbose: common.verbose, display: common.display, report: common.report,
            metrics: common.metricsSettings, recording: recording
        )
        .run(configuration) { session in
            let local = session.localEndpoint
            return "receiving \(title)on \(local.address.isUnspecified ? "port \(local.port)" : "\(local)")"
        }
    }

    /// Returns the configuration for the stream to be received, and its title for the status line.
    private func source() throws -> (RadioConfiguration, title: String) {
        let rtpSession = common.rtpSession(payloadType: payloadType)
        let address = address ?? "rtp://:\(port ?? RTPDefaults.port)"
        guard address.hasSuffix(".sdp") else {
            try ArgumentHint.check(address) {
                "write tenfour recv -p \($0)"
            } file: {
                "tenfour play \($0) plays it, and tenfour recv -o \($0) records to it"
            }
            let address = try RadioAddress(parsing: Secrets.revealed(address) ?? address)
            var (stream, key) = try srtp.stream(at: address, quiet: common.quiet)
            stream.typedPort = stream.typedPort ?? port
            var configuration = try RadioConfiguration.receiving(
                on: stream, rtpSession: rtpSession, multicastInterface: common.interface)
            configuration.protection = .init(srtp: key)
            return (configuration, "")
        }
        try srtp.checkUnused()
        let description = try TextFile.readDescription(address)
        if !common.quiet, let elsewhere = description.addressElsewhere {
            Terminal.log(
                "tenfour: \(address) names the receiver \(elsewhere), which is not an address of this machine: "
                    + "listening on port \(description.port); make the sender send to this machine")
        }
        return (
            try .receiving(description, rtpSession: rtpSession, multicastInterface: common.interface),
            description.name.isEmpty ? "" : "'\(description.name)' "
        )
    }
}
