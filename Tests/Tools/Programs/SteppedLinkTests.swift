import Foundation
import TestSupport
import Testing

/// Two stations in namespaces of their own, and `badlink` between them, whose delay grows and falls by 60 ms again and
/// again. Packets that a growth makes late are concealed for a second; from then on the audio is whole.
@Suite(.onItsOwnThread, .inRealTime) struct SteppedLinkTests {
    /// The time between two steps, and the number of pairs of a growth and a fall. With TENFOUR_LONG for a minute.
    private static let (interval, pairs) = Program.isSet("TENFOUR_LONG") ? (10, 3) : (5, 2)

    @Test(.needsRoot) func concealmentEndsWithinASecondOfEachStep() throws {
        let folder = Folder()
        let seconds = Self.interval * (2 * Self.pairs + 1)
        let tone = ["-n", "-r", "48000", "-c", "1", "tone.wav", "synth", "\(seconds)", "sine", "440", "vol", "0.3"]
        #expect(try Program.run("sox", tone, in: folder).end == .code(0))
        let errors = try NetworkNamespace.run { () throws -> String in
            let talker = try NetworkHost("10.9.1", in: folder)
            let listener = try NetworkHost("10.9.2", in: folder)
            let receiver = try listener.run(
                "tenfour", "recv", "-p", "5004", "-o", "heard.wav", "--report", "heard.json")
            guard receiver.says("receiving") else { return receiver.errors }
            let step = "60ms:\(Self.interval)s-\(2 * Self.interval)s/\(2 * Self.interval)s"
            let link = try Program("badlink", ["--detour", step, "10.9.1.2:5004", "10.9.2.1:5004"], in: folder)
            guard link.says("10.9.2.1:5004") else { return link.errors }
            let sender = try talker.run("tenfour", "send", "--input", "tone.wav", "rtp://10.9.1.2:5004")
            guard sender.wait(.seconds(seconds + 30)) == .code(0) else { return sender.errors }
            receiver.send(SIGINT)
            return receiver.wait() == .code(0) ? "" : receiver.errors
        }
        try #require(errors == "")
        try check(folder)
    }

    /// Checks the report of the receiver.
    private func check(_ folder: Folder) throws {
        let bytes = Data(Folder.bytes(of: folder("heard.json")))
        let report = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        let seconds = try #require(report["seconds"] as? [[String: Any]])
        // Nothing was due in a second without a share.
        var concealed = seconds.map { $0["concealed_share"] as? Double ?? 0 }
        #expect(concealed.count >= Self.interval * (2 * Self.pairs + 1) - 1)
        // The audio that a growth delays is concealed within one second, which may lie in two seconds of the report.
        for _ in 0..<Self.pairs {
            let worst = try #require(concealed.indices.max { concealed[$0] < concealed[$1] })
            for index in max(worst - 1, 0)...min(worst + 1, concealed.count - 1) { concealed[index] = 0 }
        }
        // Without an end it would be 0.076 in each second. The machine itself may delay a packet now and then.
        #expect(concealed.reduce(0, +) / Double(concealed.count) <= 0.01, "\(seconds)")
        #expect(concealed.allSatisfy { $0 <= 0.03 }, "\(seconds)")
    }
}
