import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.onItsOwnThread, .inRealTime) struct RadiocheckTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    init() { folder.write(Recording(channels: [Tone.samples(seconds: 2)]).wav(), to: "tone.wav") }

    private func radiocheck(_ arguments: String...) throws -> (end: Program.End, output: String, errors: String) {
        try Program.run("radiocheck", arguments + ["--speech", "tone.wav"], in: folder)
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test func anAnswererSendsAllBack() throws {
        let answerer = try Program("radiocheck", ["--answer", "-p", "\(port)"])
        try #require(answerer.takes(port: port), "\(answerer.errors)")
        let asked = try radiocheck("127.0.0.1:\(port)", "-d", "2", "--json", "-o", "back.wav")
        #expect(asked.end == .code(0), "\(asked.errors)")
        let result = try json(asked.output)
        #expect(result["sent_packets"] as? Int == 100)
        #expect((result["whole"] as? [String: Any])?["packets"] as? Int == 100)
        #expect(try #require(result["score"] as? Double) > 2)
        let tone = try #require(Tone(in: try Recording(wav: folder("back.wav")).channels[0]))
        // A gap of 20 ms in two seconds lowers the measured frequency by 1 %, and a busy machine makes some.
        // SimulatedLinkTestTests has none.
        #expect(abs(tone.frequency - Tone.telling) < Tone.telling / 20, "\(tone)")
        #expect(answerer.says("the check has ended"), "\(answerer.errors)")
        answerer.send(SIGINT)
        #expect(answerer.wait() == .code(0))
        #expect(answerer.errors.contains("sent back 1"), "\(answerer.errors)")
    }

    /// A station without the link test still receives our audio and sends reports.
    @Test func tenfourTalkIsAskedByItsReports() throws {
        let talker = try Program(
            "tenfour", ["talk", "127.0.0.1:\(port + 2)", "-p", "\(port)", "--input", "tone.wav", "-o", "heard.wav"],
            in: folder)
        try #require(talker.takes(port: port), "\(talker.errors)")
        let asked = try radiocheck("127.0.0.1:\(port)", "-p", "\(port + 2)", "-d", "7", "--json")
        #expect(asked.end == .code(0), "\(asked.errors)")
        #expect(asked.errors.contains("does not send speech back; the result is estimated from its RTCP reports"))
        let reported = try #require(try json(asked.output)["reported"] as? [String: Any])
        #expect(reported["lost"] is NSNumber && reported["jitter_ms"] is NSNumber, "\(reported)")
        talker.send(SIGINT)
        #expect(talker.wait() == .code(0))
        #expect(talker.errors.contains("is radiocheck"), "\(talker.errors)")
    }

    @Test func whereNobodyAnswersItSaysWhatToStart() throws {
        let asked = try radiocheck("127.0.0.1:\(port)", "-d", "0.2")
        #expect(asked.end == .code(69) && asked.output == "")
        #expect(asked.errors.contains("radiocheck --answer") && asked.errors.contains("tenfour talk"))
    }

    @Test func aNetworkBySeedIsJudgedTheSameEachTimeFasterThanItPasses() throws {
        let start = ContinuousClock.now
        let first = try radiocheck("--network", "wifi-bad", "--seed", "7", "-d", "60", "--json")
        #expect(ContinuousClock.now - start < .seconds(60))
        let second = try radiocheck("--network", "wifi-bad", "--seed", "7", "-d", "60", "--json")
        #expect(first.end == .code(0) && first.output == second.output, "\(first.errors)")
        let result = try json(first.output)
        #expect(result["network"] as? String == "wifi-bad" && result["seed"] as? Int == 7)
        #expect((result["advice"] as? [String])?.isEmpty == false)
    }

    @Test func belowTheScoreAskedForItFailsAndJUnitSaysSo() throws {
        let bad = try radiocheck("--network", "b30", "--defence", "off", "--min-score", "3", "--junit", "bad.xml")
        #expect(bad.end == .code(1) && bad.errors.contains("the score is below 3.00"), "\(bad.errors)")
        #expect(Folder.text(of: folder("bad.xml")).contains("failures=\"1\""))
        let good = try radiocheck("--network", "lan", "--min-score", "3.5", "--junit", "good.xml")
        #expect(good.end == .code(0), "\(good.errors)")
        let xml = Folder.text(of: folder("good.xml"))
        #expect(xml.contains("failures=\"0\"") && xml.contains("name=\"lan seed 1\"") && !xml.contains("<failure"))
    }

    @Test func wrongUseIsReportedWithTheUsage() throws {
        for arguments in [
            [], ["x", "--answer"], ["--network", "nonsense"], ["--network", "lan", "--min-score", "7"],
        ] {
            let result = try Program.run("radiocheck", arguments)
            #expect(
                result.end == .code(2) && result.errors.hasPrefix("radiocheck: ")
                    && result.errors.contains("; see 'radiocheck --help'"), "\(result.errors)")
        }
        let unwritable = try radiocheck("--network", "lan", "--junit", "no/such/file.xml")
        #expect(unwritable.end == .code(69) && unwritable.errors.contains("choose another path"))
    }

    @Test func theDemoOfABadNetworkLeavesTwoRecordingsAndAPicture() throws {
        let result = try Program.run("badnet", [folder.path, "--speech", "tone.wav", "--network", "b20"], in: folder)
        #expect(result.end == .code(0), "\(result.errors)")
        let scores = result.output.split(separator: " ").compactMap { Double($0.split(separator: "\n")[0]) }
        #expect(scores.count == 2)
        for name in ["off.wav", "on.wav"] {
            #expect((1.5...3).contains(try Recording(wav: folder(name)).seconds))
        }
        #expect(Folder.text(of: folder("badnet.svg")).hasSuffix("</svg>\n"))
    }
}
