import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `tenfour plot`.
@Suite(.onItsOwnThread, .inRealTime) struct PlotTests {
    private let folder = Folder()

    init() throws {
        // Two seconds at −20 dB and two seconds of silence.
        let loud = [Float](repeating: 0.1, count: 96_000)
        folder.write(Recording(channels: [loud + [Float](repeating: 0, count: 96_000)]).wav(), to: "a.wav")
    }

    private func plot(_ arguments: [String], in folder: Folder? = nil, environment: [String: String] = [:]) throws
        -> (end: Program.End, output: String, errors: String)
    {
        try tenfour(["plot"] + arguments, in: folder ?? self.folder, environment: environment)
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test func theBarsAreThereAsJSON() throws {
        let result = try plot(["a.wav", "--json", "--bars", "7"])
        #expect(result.end == .code(0) && result.errors == "", "\(result.errors)")
        let json = try json(result.output)
        #expect(json["frames"] as? Int == 192_000 && json["frames_per_bar"] as? Int == 192_000 / 7)
        #expect(json["exact"] as? Bool == true && json["floor_db"] as? Double == -70 && json["rate"] as? Int == 48_000)
        #expect(json["average_db"] as? [Double] == [-20, -20, -20, -45, -70, -70, -70])
        #expect(json["peak_db"] as? [Double] == [-20, -20, -20, -20, -70, -70, -70])
    }

    @Test func theFloorIsWhatSilenceIs() throws {
        let json = try json(try plot(["a.wav", "--json", "--bars", "4", "--floor", "-50"]).output)
        #expect(json["average_db"] as? [Double] == [-20, -20, -50, -50])
    }

    /// Plots the decoded audio of any container; an unknown length does not change a file's bars.
    @Test func otherFormatsAndPipesHaveTheSameBars() throws {
        for name in ["a.flac", "a.aiff", "a.ogg", "a.mp3"] {
            let made = try Program.run("ffmpeg", ["-v", "error", "-i", "a.wav", name], in: folder)
            try #require(made.end == .code(0), "\(made.errors)")
            let json = try json(try plot([name, "--json", "--bars", "4"]).output)
            let average = try #require(json["average_db"] as? [Double])
            #expect(
                json["exact"] as? Bool == true && average.count == 4 && abs(average[0] + 20) < 1, "\(name): \(average)")
        }
        let samples = [Float](repeating: 0.1, count: 10_000) + [Float](repeating: 0, count: 10_000)
        let bytes = Recording(channels: [samples]).wav()
        let pipe = TestSupport.Pipe()
        let isTaken = unsafe write(pipe.input, bytes, bytes.count) == bytes.count
        try #require(isTaken)
        pipe.closeInput()
        let program = try Program("tenfour", ["plot", "-", "--json", "--bars", "4"], input: .descriptor(pipe.output))
        #expect(program.wait() == .code(0), "\(program.errors)")
        #expect(try json(program.outputText)["average_db"] as? [Double] == [-20, -20, -70, -70])
    }

    /// The peak of real files equals ffmpeg's, which is rounded to a tenth of a decibel and clipped at full scale.
    @Test(arguments: ["mp3", "opus", "flac", "wav"]) func thePeakIsThatOfFFmpeg(kind: String) throws {
        // Bursts that fade from −6 dB into silence, so that codecs produce all kinds of small values.
        let course = "0.5*sin(880*PI*t)*exp(-6*mod(t,2))*gt(mod(t,2),0.3)"
        let made = try Program.run(
            "ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "aevalsrc='\(course)':s=48000:d=7", "b.\(kind)"], in: folder)
        try #require(made.end == .code(0), "\(made.errors)")
        let measured = try Program.run(
            "ffmpeg", ["-hide_banner", "-i", "b.\(kind)", "-af", "volumedetect", "-f", "null", "-"], in: folder)
        let peak = try #require(measured.errors.firstMatch(of: /max_volume: (-?[0-9.]+) dB/).flatMap { Double($0.1) })
        let plain = try plot(["b.\(kind)"])
        #expect(plain.end == .code(0), "\(plain.errors)")
        let shown = try #require(plain.output.firstMatch(of: /peak (-?[0-9.]+) dB/).flatMap { Double($0.1) })
        #expect(abs(shown - peak) <= 0.15, "\(shown), and ffmpeg says \(peak)")
        let levels = try #require(try json(try plot(["b.\(kind)", "--json"]).output)["peak_db"] as? [Double])
        #expect(levels.allSatisfy { (-70...peak + 0.15).contains($0) }, "\(levels)")
    }

    /// A file whose samples are all far below the floor, as only floats can be.
    @Test func soundThatIsFarTooQuietIsSilence() throws {
        let made = try Program.run(
            "ffmpeg", ["-v", "error", "-f", "lavfi", "-i", "aevalsrc=1e-20:s=48000:d=1", "-c:a", "pcm_f32le", "c.wav"],
            in: folder)
        try #require(made.end == .code(0), "\(made.errors)")
        #expect(try plot(["c.wav"]).output.contains("peak -70.0 dB · average -70.0 dB"))
    }

    @Test func aPictureIsAFileOfItsKind() throws {
        for (name, start) in [("a.svg", "<?xml"), ("a.png", "\u{89}PNG"), ("A.SVG", "<?xml")] {
            let result = try plot(["a.wav", "-o", name, "--size", "400x200", "--position", "0:01", "--dark"])
            #expect(result.end == .code(0) && result.output == "" && result.errors == "", "\(result.errors)")
            let bytes = Folder.bytes(of: folder(name))
            #expect(bytes.starts(with: start.unicodeScalars.map { UInt8($0.value) }), "\(name)")
        }
        let probe = ["-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", "a.png"]
        #expect(try Program.run("ffprobe", probe, in: folder).output == "400,200\n")
        #expect(try plot(["a.wav", "-o", "-"]).output.hasPrefix("<?xml"))
    }

    /// Without a terminal: 80 columns, no colours and no cursor movement.
    @Test func textIsPlainWhereThereIsNoTerminal() throws {
        for options in [[], ["--blocks"], ["--peak", "--size", "60x6"]] {
            let result = try plot(["a.wav"] + options)
            #expect(result.end == .code(0) && result.errors == "")
            let lines = result.output.split(separator: "\n")
            #expect(lines[0] == "a.wav · 4.0 s · 48 kHz · mono · peak -20.0 dB · average -45.0 dB")
            #expect(lines.dropFirst().allSatisfy { $0.count <= (options.count == 3 ? 60 : 80) } && lines.count > 6)
            #expect(!result.output.contains("\u{1B}"))
        }
    }

    @Test func aTerminalIsFilledInColours() throws {
        for (environment, hasColours) in [(["NO_COLOR": ""], true), (["NO_COLOR": "1"], false)] {
            let terminal = Terminal(columns: 50, rows: 20)
            let program = try Program(
                "tenfour", ["plot", "a.wav"], in: folder, environment: environment, terminal: terminal)
            #expect(program.wait() == .code(0), "\(terminal.shown)")
            #expect(terminal.shown.contains("\u{1B}[38;5;68m") == hasColours, "\(terminal.shown)")
            let plain = terminal.shown.replacing(/\u{1B}\[[0-9;]*m/, with: "").split(whereSeparator: \.isNewline)
            let widest = plain.dropFirst().map(\.count).max()
            #expect(widest == 50 && (10...18).contains(plain.count), "\(plain)")
        }
    }

    @Test func contradictoryOptionsAreRefusedBeforeReading() throws {
        let wrong = [
            ["--bars", "0"], ["--floor", "0"], ["--floor", "x"], ["--bar-width", "0"],
            ["--size", "10x10", "-o", "a.svg"],
            ["--size", "100"], ["-o", "a.jpg"], ["--position", "1:75"], ["-o", "-", "--json"],
        ]
        for arguments in wrong {
            let result = try plot(["nothing.wav"] + arguments)
            #expect(result.end == .code(2) && result.output == "" && !result.errors.isEmpty, "\(arguments): \(result)")
        }
        #expect(Folder.bytes(of: folder("a.svg")).isEmpty)
    }

    @Test func unreadableInputGetsAClearError() throws {
        folder.write("<html><body>404</body></html>", to: "page.mp3")
        folder.write("", to: "empty.wav")
        #expect(unsafe mkdir(folder("no music"), 0o700) == 0)
        for name in ["nothing.wav", "page.mp3", "empty.wav", "no music"] {
            let result = try plot([name, "-o", "out.svg"])
            #expect(result.end == .code(69) && result.output == "" && result.errors.hasPrefix("tenfour: "), "\(result)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        }
        #expect(Folder.bytes(of: folder("out.svg")).isEmpty, "no partial file remains")
    }

    /// Audio lost by the network is red in the picture of a recording.
    @Test func aRecordingKnowsWhatWasLostOfIt() throws {
        folder.write(longTone, to: "long.wav")
        let (near, far) = (UDPPort.free(), UDPPort.free())
        let receiver = try Program(
            "tenfour", ["recv", "-p", "\(far)", "-o", "heard.wav", "--jitter", "60ms", "--defence", "off"], in: folder)
        try #require(receiver.takes(port: far), "\(receiver.errors)")
        let link = try Program(
            "badlink", ["--network", "b20", "--seed", "3", ":\(near)", "127.0.0.1:\(far)"], in: folder)
        try #require(link.takes(port: near), "\(link.errors)")
        let sender = try Program(
            "tenfour", ["send", "--input", "long.wav", "rtp://127.0.0.1:\(near)", "--defence", "off"], in: folder)
        #expect(receiver.says("hearing"), "\(receiver.errors)")
        receiver.wait(.seconds(4)) { false }
        for program in [receiver, sender, link] {
            program.send(SIGINT)
            #expect(program.wait() == .code(0), "\(program.errors)")
        }
        let json = try json(try plot(["heard.wav", "--json", "--bars", "50"]).output)
        let lost = try #require(json["concealed"] as? [[Double]])
        let share = lost.reduce(0) { $0 + $1[1] - $1[0] } / (try #require(json["duration_s"] as? Double))
        #expect(lost.count > 3 && (0.05...0.45).contains(share), "\(share) of \(lost)")
        #expect(zip(lost, lost.dropFirst()).allSatisfy { $0[1] < $1[0] })
        #expect(try plot(["heard.wav"]).output.contains("% concealed"))
    }
}
