import Foundation
import Glibc
import TestSupport
import Testing

/// Tests the file of `--report`.
@Suite(.onItsOwnThread, .inRealTime) struct QualityFileTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    init() { folder.write(longTone, to: "long.wav") }

    private func json(_ name: String) throws -> [String: Any] {
        let data = Data(Folder.bytes(of: folder(name)))
        return try #require(
            try JSONSerialization.jsonObject(with: data) as? [String: Any], "\(Folder.text(of: folder(name)))")
    }

    @Test func bothEndsWriteWholeJSONAlsoAfterCtrlC() throws {
        let receiver = try Program(
            "tenfour", ["recv", "-p", "\(port)", "-o", "heard.wav", "--report", "heard.json"], in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let sender = try Program(
            "tenfour",
            ["send", "--input", "long.wav", "rtp://127.0.0.1:\(port)", "--name", "Alice", "--report", "sent.json"],
            in: folder)
        #expect(receiver.says("is Alice"), "\(receiver.errors)")
        receiver.wait(.milliseconds(3_500)) { false }
        receiver.send(SIGINT)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        sender.send(SIGTERM)
        #expect(sender.wait() == .code(0), "\(sender.errors)")

        let heard = try json("heard.json")
        let whole = try #require(heard["whole"] as? [String: Any])
        for name in [
            "lost_share", "late_share", "concealed_share", "recovered_share", "stretched_share", "resyncs", "score",
        ] {
            #expect(whole[name] is NSNumber, "\(name): \(whole)")
        }
        let codec = try #require(whole["codec_kbit_s"] as? Double)
        #expect((26...36).contains(codec), "the received bit rate instead of the default of 32 kbit/s")
        let delay = try #require(whole["delay_ms"] as? [String: Any])
        #expect(Set(delay.keys) == ["mean", "p95", "max"] && delay.values.allSatisfy { $0 is NSNumber })
        let seconds = try #require(heard["seconds"] as? [[String: Any]])
        #expect(seconds.count >= 3 && seconds.enumerated().allSatisfy { $1["second"] as? Int == $0 })
        #expect(seconds.contains { $0["packets"] as? Int ?? 0 > 25 })
        #expect((heard["talkers"] as? [[String: Any]])?.first?["name"] as? String == "Alice")

        let sent = try #require(try json("sent.json")["whole"] as? [String: Any])
        #expect((sent["sent"] as? [String: Any])?["packets"] as? Int ?? 0 > 100)
        #expect(sent["lost_share"] is NSNumber && sent["score"] is NSNumber, "by the receiver's reports: \(sent)")
    }

    @Test func aPlaceThatCannotBeWrittenIsReportedBeforeTheStart() throws {
        for arguments in [
            ["recv", "-p", "\(port)", "-o", "x.wav"], ["send", "--input", "long.wav", "rtp://127.0.0.1"],
        ] {
            let result = try tenfour(arguments + ["--report", "no/such/report.json"], in: folder)
            #expect(result.end == .code(69))
            #expect(result.errors.hasPrefix("tenfour: cannot write no/such/report.json: "), "\(result.errors)")
            #expect(result.errors.contains("choose another path") && !result.errors.contains("sending"))
            #expect(Folder.bytes(of: folder("x.wav")).isEmpty)
        }
    }

    /// If the command fails to start, no report file is created and an existing one is not emptied.
    @Test func aReportIsNotEmptiedForNothing() throws {
        folder.write("before", to: "old.json")
        for name in ["old.json", "new.json"] {
            let result = try tenfour(["recv", "-D", "nosuch", "--report", name], in: folder)
            #expect(result.end == .code(69), "\(result.errors)")
        }
        #expect(Folder.text(of: folder("old.json")) == "before")
        let isThere = unsafe access(folder("new.json"), F_OK) == 0
        #expect(!isThere)
    }

    @Test func standardOutputCanBeThePlace() throws {
        let result = try tenfour(["recv", "-p", "\(port)", "-o", "x.wav", "-d", "0.5", "--report", "-"], in: folder)
        #expect(result.end == .code(0), "\(result.errors)")
        let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        #expect((json?["whole"] as? [String: Any])?["score"] is NSNull, "nothing was heard")
    }
}
