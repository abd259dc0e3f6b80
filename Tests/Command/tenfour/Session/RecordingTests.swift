import Glibc
import TestSupport
import Testing

/// Tests that a recording is complete however it ends.
@Suite(.onItsOwnThread, .inRealTime) struct RecordingTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    init() { folder.write(longTone, to: "long.wav") }

    /// Receives a tone for a second or more while `body` runs.
    private func receive(_ options: [String], output: Program.Stream = .own, _ body: (Program) throws -> Void) throws {
        let arguments = ["recv", "-p", "\(port)", "--jitter", "200ms"] + options
        let receiver = try Program("tenfour", arguments, in: folder, output: output)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let sender = try Program(
            "tenfour", ["send", "--input", "long.wav", "rtp://127.0.0.1:\(port)"], in: folder)
        #expect(receiver.says("hearing"), "\(receiver.errors)")
        receiver.wait(.milliseconds(1_500)) { false }
        try body(receiver)
        sender.send(SIGINT)
        #expect(sender.wait() == .code(0), "Ctrl-C is a good end")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func aSignalClosesTheFile(signal: Int32) throws {
        try receive(["-o", "heard.wav"]) { receiver in
            receiver.send(signal)
            #expect(receiver.wait() == .code(0), "\(receiver.errors)")
            #expect(receiver.output == [] && receiver.errors.contains("received "), "\(receiver.errors)")
        }
        let recording = try Recording(wav: folder("heard.wav"))
        let tone = try #require(Tone(in: recording.channels[0]))
        #expect(tone.duration > 0.8 && tone.holes == [] && tone.seams == [], "\(tone)")
        // sox trusts the header, which must state the actual length.
        let length = try Program.run("soxi", ["-D", "heard.wav"], in: folder)
        #expect(length.errors == "")
        #expect(abs((Double(length.output.dropLast()) ?? 0) - recording.seconds) < 0.001)
    }

    @Test func aFileOfOneWhoWasKilledPlays() throws {
        try receive(["-o", "heard.wav"]) { receiver in
            receiver.send(SIGKILL)
            #expect(receiver.wait() == .signal(SIGKILL))
        }
        let length = try Program.run("soxi", ["-D", "heard.wav"], in: folder)
        #expect(length.errors == "" && (Double(length.output.dropLast()) ?? 0) > 0.8, "\(length)")
        let tone = try #require(Tone(in: try Recording(wav: folder("heard.wav")).channels[0]))
        #expect(tone.holes == [] && tone.seams == [], "\(tone)")
    }

    @Test func standardOutputGetsSamplesAndNothingElse() throws {
        try receive(["-o", "-"]) { receiver in
            receiver.send(SIGINT)
            #expect(receiver.wait() == .code(0), "\(receiver.errors)")
            let bytes = receiver.output
            #expect(bytes.count > 48_000 && bytes.count % 2 == 0)
            let samples = stride(from: 0, to: bytes.count - 1, by: 2).map {
                Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32_768
            }
            let tone = try #require(Tone(in: samples))
            #expect(tone.holes == [] && tone.seams == [] && abs(tone.level + 9.03) < 0.5, "\(tone)")
        }
    }

    /// A device cannot be brought to the disk.
    @Test func aDeviceIsWrittenLikeAFile() throws {
        try receive(["-o", "/dev/null"]) { receiver in
            receiver.wait(.milliseconds(1_500)) { false }
            receiver.send(SIGINT)
            #expect(receiver.wait(.seconds(20)) == .code(0), "\(receiver.errors)")
        }
    }

    /// The reader closes the pipe early, as in `| head -c 1000`.
    @Test func aReaderThatLeavesEndsIt() throws {
        var pipe = Pipe()
        try receive(["-o", "-"], output: .descriptor(pipe.input)) { receiver in
            pipe.closeInput()
            #expect(pipe.read(1_000).count == 1_000)
            pipe = Pipe()
            #expect(receiver.wait() == .code(1))
            #expect(receiver.errors.contains("tenfour: standard output leads to a program that has ended"))
        }
    }

    /// The reader reads nothing, as in `| sleep 100`.
    @Test func aReaderThatDoesNotReadIsNotWaitedForAtTheEnd() throws {
        let pipe = Pipe()
        try receive(["-o", "-"], output: .descriptor(pipe.input)) { receiver in
            receiver.send(SIGINT)
            #expect(receiver.wait(.seconds(20)) == .code(1), "audio that the reader did not take is lost")
            #expect(receiver.errors.contains("tenfour: standard output leads to a program that has stopped reading"))
        }
    }

    @Test func aFileIsNotEmptiedForSilence() throws {
        folder.write("before", to: "old.wav")
        for name in ["old.wav", "new.wav"] {
            let result = try tenfour(["recv", "-p", "\(port)", "-o", name, "-d", "0.3"], in: folder)
            #expect(result.end == .code(0) && result.errors.contains("received nothing"), "\(result.errors)")
        }
        #expect(Folder.text(of: folder("old.wav")) == "before")
        let isThere = unsafe access(folder("new.wav"), F_OK) == 0
        #expect(!isThere)
    }

    /// A redrawn status line does not belong in a file.
    @Test func noStatusLineIsDrawnWhereThereIsNoTerminal() throws {
        try receive(["-o", "heard.wav"]) { receiver in
            receiver.send(SIGINT)
            receiver.wait()
            #expect(!receiver.errors.contains("\r") && !receiver.errors.contains("\u{1B}"))
        }
    }

    /// A source without a name is shown by its address.
    @Test func onceEndsWhenTheOneWhoWasHeardHasLeft() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 1)]).wav(), to: "short.wav")
        let receiver = try Program("tenfour", ["recv", "-p", "\(port)", "-o", "heard.wav", "-1"], in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let sent = try tenfour(
            ["send", "--input", "short.wav", "rtp://127.0.0.1:\(port)", "--anonymous"], in: folder)
        #expect(sent.end == .code(0), "\(sent.errors)")
        #expect(receiver.wait() == .code(0))
        #expect(receiver.errors.contains(/tenfour: 127\.0\.0\.1:\d+ has left\n/), "\(receiver.errors)")
        // The sender notices the end of its input up to 150 ms later, and sends silence until then.
        #expect(receiver.errors.contains(/received (5\d|6[0-4]) packets from 127\.0\.0\.1:\d+/), "\(receiver.errors)")
    }
}
