import Foundation
import TestSupport
import Testing

/// Eight talkers lose a fifth of their packets in bursts, on a processor that is kept busy half of the time.
/// Concealment by a model must never cause an underrun. Runs for 10 minutes with TENFOUR_LONG.
@Suite(.inRealTime, .onItsOwnThread, .enabled(if: hasLabcard)) struct DecoderLoadTests {
    private static let seconds = Program.isSet("TENFOUR_LONG") ? 600 : 20
    /// Long enough for debug builds, whose jitter buffers alone take most of a shorter period.
    private static let period = "10ms"

    /// In the second half, the model takes five times as long.
    @Test func eightTalkersOnABusyProcessorCauseNoUnderrun() throws {
        let folder = Folder()
        folder.write(Recording(channels: [Tone.samples(seconds: 20)]).wav(), to: "tone.wav")
        let (port, inner) = (UDPPort.free(), UDPPort.free())
        let busy = try Program("taskset", ["-c", "1", "python3", "-c", Self.halfBusy])
        let receiver = try Program(
            "taskset",
            [
                "-c", "1", try Program.path(of: "tenfour"), "recv", "-v", "-p", "\(inner)", "-D", "labcard:eight",
                "--period-time", Self.period, "--report", "report.json",
            ], in: folder,
            environment: [
                "OPUS_MODELS": "models", "OPUS_MODELS_COST": "800", "OPUS_MODELS_SLOW_FROM": "\(Self.seconds * 40)",
                "LD_PRELOAD": try StandIn.opus(),
            ])
        try #require(receiver.takes(port: inner), "\(receiver.errors)")
        let link = try Program("badlink", ["--network", "g20", "--seed", "9", ":\(port)", "127.0.0.1:\(inner)"])
        try #require(link.takes(port: port), "\(link.errors)")
        let talkers = try (0..<8).map { _ in
            try Program(
                "tenfour",
                ["send", "-q", "--input", folder("tone.wav"), "--defence", "off", "rtp://127.0.0.1:\(port)"])
        }
        for talker in talkers { #expect(talker.wait(.seconds(Self.seconds + 60)) == .code(0), "\(talker.errors)") }
        receiver.send(SIGINT)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        for program in [busy, link] { program.send(SIGTERM) }
        #expect(!receiver.errors.contains("underrun"), "\(receiver.errors)")
        let report = try #require(
            JSONSerialization.jsonObject(with: Data(Folder.bytes(of: folder("report.json")))) as? [String: Any])
        #expect((report["talkers"] as? [Any])?.count == 8)
        let decoder = try #require(report["decoder"] as? [String: Any])
        #expect(decoder["setbacks"] as? Int ?? 0 >= 1, "\(decoder)")
        let whole = try #require(report["whole"] as? [String: Any])
        #expect(whole["holes"] as? Int == 0, "\(receiver.errors)")
        #expect(try #require(whole["deep_plc_share"] as? Double) > 0.3, "\(receiver.errors)")
    }

    /// A program that computes for 5 ms and sleeps for 5 ms, in turn.
    private static let halfBusy = """
        import time
        while True:
            end = time.thread_time() + 0.005
            while time.thread_time() < end: pass
            time.sleep(0.005)
        """
}
