import Glibc
import TenfourAudioCore
import TenfourTransmissions
import TestSupport
import Testing

@testable import tenfour

/// `--record` with real sessions.
@Suite(.onItsOwnThread, .inRealTime) struct RecordTests {
    private let folder = Folder()

    private func sent(seconds: Int, to port: UInt16) throws {
        folder.write(longTone, to: "long.wav")
        let sender = try Program(
            "tenfour",
            ["send", "--input", "long.wav", "--name", "alice", "-d", "\(seconds)", "rtp://127.0.0.1:\(port)"],
            in: folder)
        #expect(sender.wait() == .code(0), "\(sender.errors)")
    }

    @Test func whatIsReceivedIsInTheLog() throws {
        let port = UDPPort.free()
        folder.write("#!/bin/sh\necho \"$1 $TRANSMISSION_CHANNEL\" >> hook.txt\n", to: "hook")
        // By a program of its own: a child that another thread starts meanwhile would hold the script open for writing, and
        // the kernel would not run it (ETXTBSY).
        let copying = try Program.run("install", ["-m", "755", folder("hook"), folder("hook.sh")])
        try #require(copying.end == .code(0), "\(copying.errors)")
        let receiver = try Program(
            "tenfour",
            [
                "recv", "-p", "\(port)", "-o", "heard.wav", "--record", "radio", "--record-limit", "10M",
                "--record-hook", "./hook.sh",
            ], in: folder)
        try #require(receiver.says("recording to radio, not encrypted"), "\(receiver.errors)")
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        try sent(seconds: 3, to: port)
        receiver.send(SIGTERM)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        let names = Folder.entries(of: folder("radio")).filter { $0.hasSuffix(".opus") }
        try #require(names.count == 1, "\(names) \(receiver.errors)")
        #expect(names[0].contains(/^[-0-9]{10}T[-0-9]{8}Z_rtp_.*\.opus$/), "\(names)")
        let probe = try Program.run(
            "ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", "radio/\(names[0])"],
            in: folder)
        let duration = Double(probe.output.trimmingPrefix(" ").split(separator: "\n").first ?? "") ?? 0
        #expect((2...3.5).contains(duration), "\(probe.output)\(probe.errors)")
        let log = try tenfour(["log", "--json", "--record", "radio"], in: folder)
        #expect(log.output.contains("\"rtp\"") && log.output.split(separator: "\n").count == 1, "\(log.output)")
        #expect(Folder.text(of: folder("hook.txt")) == "start rtp\nend rtp\n")
    }

    @Test func whatIsRemovedIsSaid() {
        #expect(
            SessionRecording.notice(of: .removed(37), .usual)
                == "37 recordings were removed: the directory may hold at most 1G in 100000 files (--record-limit)")
        #expect(
            SessionRecording.notice(of: .removed(1), RecordLimit(byteCount: nil, age: nil))
                == "1 recording was removed: the directory may hold at most 100000 files (--record-limit)")
    }

    @Test func whatExceedsTheLimitIsRemovedAndSaid() throws {
        for minute in 0..<60 {
            let name = "2026-11-21T10-\(minute / 10)\(minute % 10)-00Z_rtp_\(minute < 10 ? "alice" : "bob").opus"
            folder.write([UInt8](repeating: 0, count: 20_000), to: name)
        }
        let receiver = try Program(
            "tenfour",
            ["recv", "-p", "\(UDPPort.free())", "-o", "heard.wav", "--record", ".", "--record-limit", "1M"], in: folder)
        #expect(
            receiver.says("11 recordings were removed: the directory may hold at most 1M in 100000 files"),
            "\(receiver.errors)")
        let names = Folder.entries(of: folder.path).filter { $0.hasSuffix(".opus") }
        #expect(names.count == 49 && names.count { $0.hasSuffix("_alice.opus") } == 10)
    }

    @Test func whatCannotBeRecordedIsSaidFirst() throws {
        folder.write("", to: "file")
        let result = try tenfour(["recv", "-o", "heard.wav", "--record", "file/radio"], in: folder)
        #expect(result.end == .code(69) && result.errors.contains("cannot record to file/radio"), "\(result.errors)")
        let limit = try tenfour(["recv", "--record-limit", "1G"], in: folder)
        #expect(limit.end == .code(2) && limit.errors.contains("--record-limit needs --record DIRECTORY"))
    }

    @Test func tonesAreChosenByName() throws {
        #expect(ToneChoice(argument: "none")?.tones == [])
        #expect(ToneChoice(argument: "busy,time-out")?.tones == [.busy, .timeOutWarning])
        #expect(ToneChoice(argument: "all")?.tones.count == 9 && ToneChoice().tones.count == 8)
        #expect(ToneChoice(argument: "beep") == nil && ToneChoice(argument: "") == nil)
        let result = try tenfour(["talk", "127.0.0.1", "--ptt", "pedal"])
        #expect(result.end == .code(2) && result.errors.contains("--ptt pedal: 'pedal' is no kind of device"))
    }
}
