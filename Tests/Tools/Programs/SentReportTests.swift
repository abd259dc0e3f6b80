import Foundation
import Glibc
import TestSupport
import Testing

/// The loss in the sender's report over a lossy link.
@Suite(.onItsOwnThread, .inRealTime) struct SentReportTests {
    private let folder = Folder()

    @Test func theSecondsAddUpToTheWhole() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 6)]).wav(), to: "tone.wav")
        let (port, link) = (UDPPort.free(), UDPPort.free())
        let proxy = try Program(
            "badlink", ["--loss", "20%", "--one-way", "--no-rtcp", "127.0.0.1:\(link)", "127.0.0.1:\(port)"])
        let receiver = try Program("tenfour", ["recv", "rtp://127.0.0.1:\(port)", "-o", "x.wav"], in: folder)
        try #require(proxy.takes(port: link) && receiver.takes(port: port), "\(proxy.errors) \(receiver.errors)")
        let sent = try Program.run(
            "tenfour",
            [
                "send", "--input", "tone.wav", "--defence", "off", "rtp://127.0.0.1:\(link)", "-b", "24k",
                "--report", "sent.json",
            ], in: folder)
        #expect(sent.end == .code(0), "\(sent.errors)")
        let data = Data(Folder.bytes(of: folder("sent.json")))
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let whole = try #require((json["whole"] as? [String: Any])?["sent"] as? [String: Any])
        let seconds = try #require(json["seconds"] as? [[String: Any]]).compactMap { $0["sent"] as? [String: Any] }
        #expect(Set(seconds[0].keys).union(["uncovered"]) == Set(whole.keys))
        let lost = try #require(whole["lost"] as? Int)
        #expect((10...120).contains(lost) && lost == seconds.reduce(0) { $0 + ($1["lost"] as? Int ?? 0) }, "\(seconds)")
        // The codec's current bit rate, not its default.
        #expect(whole["codec_kbit_s"] as? Double == 24)
        #expect(seconds.contains { $0["score"] is NSNumber })
    }
}
