import Foundation
import TestSupport
import Testing

/// Captures of an Opus stream as input for `replay`.
@Suite(.onItsOwnThread) struct ReplayTests {
    private let folder = Folder()

    /// Returns Ethernet packets, one every 20 ms, from 192.0.2.1 to port 5004 of 192.0.2.2, for a little-endian pcap
    /// file.
    private func capture(
        count: Int = 500, ssrc: UInt8 = 9, type: UInt8 = 111, losing: (Int) -> Bool = { _ in false },
        delay: (Int) -> Int = { _ in 0 }
    ) -> [(microseconds: Int, packet: [UInt8])] {
        (0..<count).filter { !losing($0) }.map { index in
            let rtp = [0x80, type] + big(index, 2) + big(index * 960, 4) + [0, 0, 0, ssrc, 0xF8, 0xFF, 0xFE]
            let udp = big(40_000, 2) + big(5_004, 2) + big(8 + rtp.count, 2) + [0, 0] + rtp
            let ip =
                [0x45, 0] + big(20 + udp.count, 2) + [0, 7, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2] + udp
            return (index * 20_000 + delay(index), [UInt8](repeating: 2, count: 12) + [8, 0] + ip)
        }
    }

    private func pcap(_ packets: [(microseconds: Int, packet: [UInt8])]) -> [UInt8] {
        var bytes =
            little(0xA1B2_C3D4, 4) + little(2, 2) + little(4, 2) + little(0, 8) + little(65_535, 4) + little(1, 4)
        for (microseconds, packet) in packets.sorted(by: { $0.microseconds < $1.microseconds }) {
            bytes += little(1_700_000_000 + microseconds / 1_000_000, 4) + little(microseconds % 1_000_000, 4)
            bytes += little(packet.count, 4) + little(packet.count, 4) + packet
        }
        return bytes
    }

    private func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }

    private func replay(_ arguments: String...) throws -> (end: Program.End, output: String, errors: String) {
        try Program.run("replay", arguments, in: folder)
    }

    private func whole(_ name: String) throws -> [String: Any] {
        try #require(try json(name)["whole"] as? [String: Any])
    }

    private func json(_ name: String) throws -> [String: Any] {
        try #require(
            JSONSerialization.jsonObject(with: Data(Folder.bytes(of: folder(name)))) as? [String: Any])
    }

    @Test func aCaptureBecomesSoundAndAReport() throws {
        folder.write(pcap(capture(losing: { (100..<105).contains($0) })), to: "talk.pcap")
        let result = try replay("talk.pcap", "-o", "heard.wav", "--report", "report.json")
        #expect(result.end == .code(0) && result.output == "", "\(result.errors)")
        #expect(result.errors.contains("SSRC 00000009 to 192.0.2.2:5004 (type 111, 495 packets)"))
        let recording = try Recording(wav: folder("heard.wav"))
        #expect((10.0...11).contains(recording.seconds) && recording.rate == 48_000)
        let whole = try whole("report.json")
        #expect(whole["lost_share"] as? Double == 0.01 && whole["burst_length"] as? Double == 5)
        #expect((whole["delay_ms"] as? [String: Double])?["mean"] ?? 99 < 30)
        let decoder = try #require(try json("report.json")["decoder"] as? [String: String])
        #expect(decoder["library"]?.hasPrefix("libopus ") == true && decoder["models"] != nil, "\(decoder)")
        // A second run gives byte-identical results.
        let (sound, report) = (Folder.bytes(of: folder("heard.wav")), Folder.text(of: folder("report.json")))
        _ = try replay("talk.pcap", "-o", "heard.wav", "--report", "report.json")
        #expect(Folder.bytes(of: folder("heard.wav")) == sound && Folder.text(of: folder("report.json")) == report)
    }

    @Test func theLargestStreamIsPlayedAndTheOthersAreNamed() throws {
        folder.write(
            pcap(capture(count: 100) + capture(count: 200, ssrc: 10) + capture(count: 400, ssrc: 11, type: 0)),
            to: "many.pcap")
        let all = try replay("many.pcap")
        #expect(all.end == .code(0) && all.errors.contains("playing SSRC 0000000a"), "\(all.errors)")
        #expect(all.errors.contains("not playing SSRC 0000000b") && all.errors.contains("SSRC 00000009"))
        #expect(try replay("many.pcap", "--ssrc", "9").errors.contains("playing SSRC 00000009"))
        #expect(try replay("many.pcap", "--ssrc", "0x9").errors.contains("playing SSRC 00000009"))
        let none = try replay("many.pcap", "--port", "5006")
        #expect(none.end == .code(69) && none.errors.contains("no stream matches --ssrc"))
    }

    /// The capture was written by tcpdump on the loopback: one station talks, and RTCP is included.
    @Test func aCaptureOfTcpdumpIsPlayed() throws {
        let result = try replay(Repository.path("Tests/TestSupport/Corpus/capture/talk.pcap"))
        #expect(result.end == .code(0), "\(result.errors)")
        #expect(result.errors.contains("lost        0 of 100 packets"), "\(result.errors)")
    }

    @Test func aCutOffCaptureIsReadAsFarAsItGoes() throws {
        folder.write(Array(pcap(capture()).dropLast(7)), to: "cut.pcap")
        let result = try replay("cut.pcap", "--report", "cut.json")
        #expect(result.end == .code(0) && result.errors.contains("read up to the damage: it ends within a packet"))
        #expect(try whole("cut.json")["packets"] as? Int == 499)
    }

    @Test(arguments: [
        ("empty", "is empty"), ("words", "neither pcap nor pcapng"), ("header", "cut off before the first packet"),
        ("nothing", "no packet is RTP"), ("alien", "looks like Opus or G.711"),
        ("missing", "name another file"),
        ("years", "at most 12 hours can be played"),
    ]) func unplayableFilesGetAClearError(name: String, words: String) throws {
        folder.write([], to: "empty")
        folder.write("What is this?", to: "words")
        folder.write(Array(pcap([])[..<20]), to: "header")
        folder.write(pcap([]), to: "nothing")
        folder.write(pcap(capture(type: 0)), to: "alien")
        folder.write(pcap(capture(delay: { $0 == 499 ? 1_000_000_000_000 : 0 })), to: "years")
        let result = try replay(name, "-o", "heard.wav")
        #expect(result.end == .code(69) && result.output == "", "\(result.errors)")
        #expect(result.errors.contains(words) && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        #expect(Folder.bytes(of: folder("heard.wav")).isEmpty)
    }

    @Test func wrongUseIsReportedWithTheUsage() throws {
        for arguments in [
            ["x", "--ssrc", "nonsense"], ["x", "--payload-type", "128"], ["x", "--jitter", "never"], [],
        ] {
            let result = try Program.run("replay", arguments)
            #expect(
                result.end == .code(2) && result.errors.contains("see 'replay --help'") && result.output == "")
        }
        let help = try replay("--help-all")
        #expect(help.end == .code(0) && help.output.contains("Exit codes") && help.errors == "")
    }
}
