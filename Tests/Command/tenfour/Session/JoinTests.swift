import Foundation
import TestSupport
import Testing

/// Somebody has been talking for a second when we begin to listen.
@Suite(.onItsOwnThread, .inRealTime) struct JoinedSessionTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    @Test(arguments: [["-D", "null"], ["-o", "heard.wav"]]) func joiningStartsClean(output: [String]) throws {
        folder.write(longTone, to: "long.wav")
        let sender = try Program(
            "tenfour", ["send", "--input", "long.wav", "rtp://127.0.0.1:\(port)", "-q"], in: folder)
        sender.wait(.seconds(1)) { false }
        let receiver = try Program.run(
            "tenfour", ["recv", "rtp://:\(port)", "--report", "heard.json", "-d", "3.5", "-q"] + output, in: folder)
        #expect(receiver.end == .code(0), "\(receiver.errors)")
        sender.send(SIGTERM)
        _ = sender.wait()
        let data = Data(Folder.bytes(of: folder("heard.json")))
        let report = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let seconds = try #require(report["seconds"] as? [[String: Any]])
        try #require(seconds.count >= 3)
        for name in ["concealed_share", "missing_share"] {
            let share = try #require(seconds[0][name] as? Double)
            #expect(share <= 0.02, "\(name)")
        }
        let delay = try #require(seconds[2]["delay_ms"] as? [String: Any])
        let mean = try #require(delay["mean"] as? Double)
        #expect(mean <= 80)
    }
}
