import Foundation
import TestSupport
import Testing

/// The option `--decoder`, with a substitute for a libopus with neural models
/// (Tests/TestSupport/Libraries/opusmodels.c).
@Suite(.onItsOwnThread) struct DecoderCommandTests {
    @Test func aLibraryThatTakesTheSettingAndChangesNothingHasNoModels() throws {
        let said = try opening(["OPUS_MODELS": "deaf"])
        #expect(said.contains("plain; this library has no neural models"), "\(said)")
    }

    /// Where other programs keep the processor busy during the trial, auto can find LACE too slow.
    @Test(arguments: [
        ("auto", "deep PLC"), ("full", "deep PLC and LACE, "), ("plc", "deep PLC, "),
        ("plain", "plain, as chosen"),
    ])
    func theChosenDecoderIsUsed(choice: String, words: String) throws {
        let said = try opening(["OPUS_MODELS": "models"], ["--decoder", choice])
        #expect(said.contains(words), "\(said)")
    }

    /// The substitute for a card has 5 ms of slack.
    @Test func aModelThatIsTooSlowForTheCardIsNotUsedAndTheReasonIsGiven() throws {
        let said = try opening(["OPUS_MODELS": "models", "OPUS_MODELS_COST": "3000"])
        #expect(said.contains("plain; ") && said.contains("too slow for this card"), "\(said)")
    }

    @Test func theEnvironmentChoosesToo() throws {
        let said = try opening(["OPUS_MODELS": "models", "TENFOUR_DECODER": "plc"])
        #expect(said.contains("deep PLC, "), "\(said)")
    }

    @Test func anotherWordIsRefused() throws {
        let said = try tenfour(["recv", "--decoder", "neural", "rtp://:\(UDPPort.free())"])
        #expect(said.end == .code(64) || said.end == .code(2))
        #expect(said.errors.contains("neural"))
    }

    /// A fifth of the packets is lost. From the 84th lost frame on (54 of them belong to the trial) each takes five
    /// times as long, and the first such frame ends the use of the model.
    @Test func aModelThatBecomesSlowIsLeftOutAndTheReportTellsIt() throws {
        let folder = Folder()
        let port = UDPPort.free()
        let inner = UDPPort.free()
        let environment = [
            "OPUS_MODELS": "models", "OPUS_MODELS_COST": "400", "OPUS_MODELS_SLOW_FROM": "84",
            "LD_PRELOAD": try StandIn.opus(),
        ]
        let receiver = try Program(
            "tenfour", ["recv", "-p", "\(inner)", "-o", "heard.wav", "--report", "report.json", "--oneshot"],
            in: folder,
            environment: environment)
        try #require(receiver.takes(port: inner), "\(receiver.errors)")
        let link = try Program(
            "badlink", ["--loss", "20%", "--seed", "3", ":\(port)", "127.0.0.1:\(inner)"], in: folder)
        try #require(link.takes(port: port), "\(link.errors)")
        folder.write(Recording(channels: [Tone.samples(seconds: 6)]).wav(), to: "tone.wav")
        let sent = try tenfour(["send", "--input", folder("tone.wav"), "--defence", "off", "rtp://127.0.0.1:\(port)"])
        #expect(sent.end == .code(0), "\(sent.errors)")
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        link.send(SIGTERM)
        let report = try #require(
            JSONSerialization.jsonObject(with: Data(Folder.bytes(of: folder("report.json")))) as? [String: Any])
        let decoder = try #require(report["decoder"] as? [String: Any])
        #expect(decoder["setbacks"] as? Int ?? 0 >= 1, "\(decoder)")
        #expect(decoder["models"] as? String == "plain", "\(decoder)")
        let whole = try #require(report["whole"] as? [String: Any])
        let share = try #require(whole["deep_plc_share"] as? Double)
        #expect(share > 0.2 && share < 0.95, "by the model at first, and then without: \(share)")
        #expect(whole["missing_share"] as? Double == 0)
    }

    /// Returns the messages of `recv -v`, which name the decoder.
    private func opening(_ variables: [String: String], _ options: [String] = []) throws -> String {
        var environment = variables
        environment["LD_PRELOAD"] = try StandIn.opus()
        let port = UDPPort.free()
        let ended = try tenfour(
            ["recv", "-v", "-p", "\(port)", "-o", "/dev/null", "-d", "0.2"] + options, environment: environment)
        return ended.errors.split(separator: "\n").first { $0.contains("decodes with") }.map(String.init)
            ?? ended.errors
    }
}
