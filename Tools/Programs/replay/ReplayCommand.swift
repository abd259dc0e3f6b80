public import ArgumentParser
import TenfourAudioCore
import TenfourAudioFile
import TenfourCallQuality
import TenfourCommandSupport
import TenfourJSON
import TenfourJitterBuffer
import TenfourLinkTest
import TenfourPacketCapture
import TenfourPackets
public import TenfourRadio
import TenfourSession
import TenfourTimePitch

@main struct ReplayCommand: ParsableCommand {
    private static let name = ToolName.shown("replay")

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract:
            "Plays a captured stream as tenfour would have played it, faster than real time and always with the same result.",
        usage: """
            \(name) capture.pcap -o heard.wav --report report.json
            \(name) capture.pcapng --port 5004 --jitter 60ms
            tcpdump -w - udp port 5004 | \(name) - -o heard.wav
            """,
        discussion: """
            Reads pcap (both byte orders, micro- and nanoseconds) and pcapng, with Ethernet, VLAN tags, Linux cooked headers, \
            raw IP or loopback. It plays the RTP stream of Opus or G.711 with the most packets, unless you choose another. The simulated \
            card has periods of 2.5 ms and is never late. The delay is measured from the time of sending, which is estimated \
            from the fastest packet; the score is that of the E-model (ITU-T G.107). A retransmitted packet counts as late, not \
            as lost, because a capture does not show who requested it.

            \(Console.exitCodes) It also ends with 69 if the capture cannot be read or has no such stream.
            """, helpNames: .help)

    @Argument(
        help: ArgumentHelp("The capture file; - is standard input.", valueName: "capture"),
        completion: .file(extensions: ["pcap", "pcapng"]))
    var path: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the audio to a WAV file, or raw samples to standard output (-).", valueName: "file"),
        completion: .file(extensions: ["wav"]))
    var output: String?

    @Option(
        help: ArgumentHelp("Write a call quality report as JSON; - is standard output.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var report: String?

    @Option(help: ArgumentHelp("Choose the stream with this SSRC, in hexadecimal digits.", valueName: "digits"))
    var ssrc: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Choose the stream that is sent to this port.", valueName: "port"))
    var port: UInt16?

    @Option(help: ArgumentHelp("Choose the stream with this payload type, 0 to 127.", valueName: "number"))
    var payloadType: UInt8?

    @Option(
        help: ArgumentHelp(
            "Depth of the jitter buffer: auto, or a fixed time such as 60ms; a bare number is in milliseconds.",
            valueName: "auto|time"))
    var jitter: Jitter?

    @Option(
        help: ArgumentHelp(
            "Maximum depth of the jitter buffer; a bare number is in milliseconds. Default: 1 s.", valueName: "time"))
    var maxLatency: Time<BareMilliseconds>?

    @Option(
        help: ArgumentHelp(
            "Neural models of libopus 1.5 for decoding: plain uses none, plc replaces lost frames, full also enhances speech, auto uses all that the library has.",
            valueName: "auto|plain|plc|full"))
    var decoder: DecoderChoice = .auto

    @Option(
        help: ArgumentHelp(
            "Speed of the written audio: 0.25 to 32; above 4, parts are skipped. The report does not depend on it.",
            valueName: "factor"))
    var rate: Double?

    // Unconditional, because a negative number starts like an option.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Pitch shift of the written audio in cents (hundredths of a semitone), -2400 to 2400.", valueName: "cents"))
    var pitch: Double?

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    /// The options that --help shows; --help-all shows all.
    static let usual = ["output", "report", "port", "ssrc", "jitter", "max-latency", "decoder", "rate", "pitch"]

    static func main() { runAndExit(named: name, usual: [_commandName: usual]) }

    func validate() throws {
        if let ssrc, Choice.number(ssrc) == nil {
            throw ValidationError(
                "--ssrc \(ssrc) is not an SSRC: write up to eight hexadecimal digits, such as 1a2b3c4d.")
        }
        if let payloadType, payloadType > 127 {
            throw ValidationError(
                "--payload-type \(payloadType) is not an RTP payload type: write a number from 0 to 127.")
        }
        if let rate, !TimePitch.rates.contains(rate) {
            throw ValidationError("--rate \(rate) is out of range: write 0.25 to 32.")
        }
        if let pitch, !TimePitch.pitches.contains(pitch) {
            throw ValidationError("--pitch \(pitch) is out of range: write -2400 to 2400.")
        }
        try checkDepth(jitter?.depth, of: "--jitter")
        try checkDepth(maxLatency?.duration, of: "--max-latency")
    }

    func run() throws {
        try Console.checkStandardOutput([("--output", output), ("--report", report)])
        let capture = try ReplayCapture(path)
        let choice = Choice(ssrc: ssrc.flatMap(Choice.number), port: port, payloadType: payloadType)
        let survey = StreamSurvey(capture.log)
        let stream = try choice.stream(of: survey, in: capture)
        let others = survey.streams.filter { $0 != stream }
        let log = try capture.log(of: stream)
        let report = try self.report.map { path throws(RadioError) in try OutputFile(path: path) }
        say("\(capture.summary)")
        say("playing \(stream.words)" + (others.isEmpty ? "" : "; not playing \(list(others))"))
        let quality = try play(log, of: stream)
        if !quiet { Console.log(quality.whole.text) }
        try report?.write(json(quality, stream, others, capture).text)
    }

    private func play(_ log: DatagramLog, of stream: RTPStream) throws -> QualityReport {
        var settings = PlayoutSettings()
        settings.fixedDelay = jitter?.depth
        settings.decoder = decoder
        if let maxLatency { settings.maximumDelay = maxLatency.duration }
        var receiver = try SimulatedReceiver(
            of: stream.ssrc, payloadType: stream.payloadType, redPayloadType: stream.redPayloadType, playout: settings)
        var writer = try Recording(output, rate: rate ?? 1, pitch: pitch ?? 0)
        for entry in log.entries {
            try receiver.play(until: entry.at) { sound, pull in try writer.write(sound, pull.counts.playout) }
            receiver.receive(log.datagram(entry), from: entry.source, at: entry.at)
        }
        try receiver.finish { sound, pull in try writer.write(sound, pull.counts.playout) }
        try writer.close()
        for mistake in receiver.senderMistakes {
            if let line = SourceNotice.line(for: mistake, of: "SSRC \(stream.ssrc.digits)") { say(line) }
        }
        return receiver.report()
    }

    private func list(_ streams: [RTPStream]) -> String {
        let shown = streams.prefix(8).map(\.words).joined(separator: ", ")
        return streams.count > 8 ? "\(shown) and \(streams.count - 8) more" : shown
    }

    private func json(
        _ quality: QualityReport, _ stream: RTPStream, _ others: [RTPStream], _ capture: ReplayCapture
    ) -> JSON {
        let used = DecoderSnapshot(simulating: decoder)
        return .object(
            [
                ("capture", .text(path)), ("damage", capture.damage.map { .text($0) } ?? .null),
                ("passed_over", capture.passedOverJSON), ("stream", stream.json),
                ("other_streams", .list(others.map(\.json))),
                ("decoder", .object([("library", .text(used.library)), ("models", .text(used.models.rawValue))])),
            ] + quality.members())
    }

    private func say(_ text: String) { if !quiet { Console.log("\(Self.name): \(text)") } }
}

extension RTPStream {
    /// A text such as `SSRC 1a2b3c4d to 10.0.0.7:5004 (type 111, 2990 packets)`.
    var words: String {
        "SSRC \(ssrc.digits) to \(destination) (type \(payloadType), \(packetCount) packet\(packetCount == 1 ? "" : "s"))"
    }

    var json: JSON {
        .object([
            ("ssrc", .text(ssrc.digits)), ("destination", .text("\(destination)")),
            ("payload_type", .integer(Int(payloadType))), ("packets", .integer(packetCount)),
        ])
    }
}

/// Writes the played audio to a file, if one was requested.
private struct Recording: ~Copyable {
    private var file: AudioFileWriter?
    private var before = PlayoutStatistics()
    private var timePitch = TimePitch(format: .mono)
    private var timeScaled = [Float](repeating: 0, count: 4_800)

    init(_ path: String?, rate: Double, pitch: Double) throws(RadioError) {
        timePitch.rate = rate
        timePitch.pitch = pitch
        guard let path else { return }
        do { file = try AudioFileWriter(path: path, format: .mono) } catch {
            throw RadioError(.unavailable, error.description)
        }
    }

    /// Writes audio, and marks the concealed ranges that `counted` adds to the previous statistics.
    mutating func write(_ sound: Span<Float>, _ counted: PlayoutStatistics) throws(RadioError) {
        mark(counted)
        var start = 0
        while start < sound.count {
            let progress = Self.scale(sound.extracting(start..<sound.count), through: &timePitch, into: &timeScaled)
            start += progress.consumed.rawValue
            try put(progress.produced)
        }
    }

    mutating func close() throws(RadioError) {
        while case let count = Self.end(&timePitch, into: &timeScaled), count > .zero { try put(count) }
        do { try file?.close() } catch { throw RadioError(.failure, error.description) }
    }

    private mutating func mark(_ counted: PlayoutStatistics) {
        let behind = timeScaled(counted.concealedInHindsight - before.concealedInHindsight)
        let ahead = timeScaled(counted.concealed - before.concealed) - behind
        before = counted
        guard let start = file?.frameCount else { return }
        if behind > .zero { file?.marks.add(max(start - behind, .zero)..<start) }
        if ahead > .zero { file?.marks.add(start..<start + ahead) }
    }

    /// Returns the number of output frames that `count` frames become at the playback rate.
    private func timeScaled(_ count: FrameCount) -> FrameCount {
        FrameCount(Int(Double(count.rawValue) / timePitch.rate))
    }

    private mutating func put(_ count: FrameCount) throws(RadioError) { try Self.write(timeScaled, count, to: &file) }

    // These functions are static, because a method could not access two properties of `self` separately.

    private static func scale(
        _ sound: Span<Float>, through timePitch: inout TimePitch, into timeScaled: inout [Float]
    ) -> EffectProgress {
        var room = timeScaled.mutableSpan
        return timePitch.process(sound, into: &room)
    }

    private static func write(
        _ timeScaled: [Float], _ count: FrameCount, to file: inout AudioFileWriter?
    ) throws(RadioError) {
        do { try file?.write(timeScaled.span.extracting(0..<count.rawValue)) } catch {
            throw RadioError(.failure, error.description)
        }
    }

    private static func end(_ timePitch: inout TimePitch, into timeScaled: inout [Float]) -> FrameCount {
        var room = timeScaled.mutableSpan
        return timePitch.finish(into: &room)
    }
}

extension DecoderChoice: ExpressibleByArgument {}
