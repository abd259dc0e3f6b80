import Glibc
import TenfourNetworkEmulator
import TenfourSeededRandom
import TestSupport
import Testing

/// The format of audio on standard input is recognised, or the input is refused.
@Suite(.onItsOwnThread) struct RecognisedInputTests {
    private let folder = Folder()

    init() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 3)]).wav(), to: "in.wav")
    }

    private func make(_ name: String, _ options: [String] = []) throws {
        let made = try Program.run(
            "ffmpeg", ["-v", "error", "-y", "-i", folder("in.wav")] + options + [folder(name)], for: .seconds(60))
        try #require(made.end == .code(0), "\(made.errors)")
    }

    /// Runs `cat FILE | tenfour …`.
    private func pipe(_ name: String, into arguments: [String]) throws -> Program {
        let pipe = Pipe()
        let writer = try Program("cat", [folder(name)], output: .descriptor(pipe.input))
        let reader = try Program("tenfour", arguments, in: folder, input: .descriptor(pipe.output))
        pipe.closeInput()
        pipe.closeOutput()
        reader.wait(.seconds(60))
        writer.send(SIGKILL)
        return reader
    }

    @Test(arguments: ["a.aac", "a.webm", "a.mp3", "a.flac", "a.ogg", "a.m4a", "a.ts", "in.wav"])
    func recognisedInputIsPlotted(name: String) throws {
        if name != "in.wav" { try make(name) }
        let reader = try pipe(name, into: ["plot", "-", "--size", "60x4"])
        #expect(reader.wait() == .code(0), "\(reader.errors)")
        let line = reader.outputText.prefix { $0 != "\n" }
        #expect(line.contains("3.0 s") || line.contains("3.1 s"), "\(line)")
        #expect(line.contains(/average -1[12]\.[0-9] dB/), "\(line)")
    }

    /// play reads the input before it opens the output, and cannot read it again.
    @Test func playNamesTheReasonForWhichItRefusesStandardInput() throws {
        try make("whole.m4a")
        let whole = Folder.bytes(of: folder("whole.m4a"))
        folder.write(Array(whole.prefix(whole.count * 2 / 3)), to: "cut.m4a")
        folder.write([0x1F, 0x8B, 8, 0] + [UInt8](repeating: 0x55, count: 200_000), to: "in.wav.gz")
        for (name, text) in [("cut.m4a", "looks like MP4 but is damaged or incomplete"), ("in.wav.gz", "gunzip")] {
            let reader = try pipe(name, into: ["play", "-", "-o", "out.wav"])
            #expect(reader.wait() == .code(69), "\(reader.errors)")
            #expect(reader.errors.contains("standard input: ") && reader.errors.contains(text), "\(reader.errors)")
        }
    }

    @Test(arguments: ["in.mp3", "in.aac", "in.webm"])
    func itIsSentAsIt(name: String) throws {
        try make(name)
        let receiver = try Receiver()
        let sender = try pipe(name, into: ["send", "--input", "-", receiver.uri])
        #expect(sender.wait() == .code(0), "\(sender.errors)")
        let heard = try receiver.tone()
        #expect(abs(heard.frequency - Tone.telling) < 1 && heard.duration > 2.5, "\(heard)")
    }

    @Test(arguments: [
        ["plot", "-"], ["send", "--input", "-", "rtp://127.0.0.1:9"], ["talk", "--open", "--input", "-", "127.0.0.1"],
    ])
    func noiseIsRefusedWithAClearError(arguments: [String]) throws {
        var chance = SeededRandom(seed: 4)
        folder.write((0..<300_000).map { _ in UInt8(truncatingIfNeeded: chance.next()) }, to: "noise")
        folder.write(String(repeating: "It is a truth universally acknowledged. ", count: 2_000), to: "text")
        folder.write([UInt8](repeating: 0, count: 100_000), to: "zeros")
        folder.write("", to: "nothing")
        for name in ["noise", "text", "zeros", "nothing"] {
            let program = try pipe(name, into: arguments)
            #expect(program.wait() == .code(69), "\(name): \(program.errors)")
            #expect(program.outputText == "" && program.errors.hasPrefix("tenfour: standard input: "))
            #expect(program.errors.split(separator: "\n").count == 1, "\(program.errors)")
        }
        let program = try pipe("noise", into: arguments)
        #expect(program.errors.contains("-f S16_LE -r 48000"), "\(program.errors)")
        folder.write("<!DOCTYPE html><html>log in</html>", to: "page")
        let refusal = try pipe("page", into: arguments)
        #expect(refusal.wait() == .code(69) && refusal.errors.contains("open it in a browser"), "\(refusal.errors)")
        #expect(!refusal.errors.contains("S16_LE"), "\(refusal.errors)")
    }

    /// Raw samples are accepted only if an option gives their format.
    @Test func samplesWithoutAHeaderAreTakenWhereTheyAreSaidToBe() throws {
        try make("a.raw", ["-f", "s16le", "-ar", "44100", "-ac", "2"])
        let reader = try pipe(
            "a.raw", into: ["plot", "-", "-f", "S16_LE", "-r", "44100", "-c", "2", "--size", "60x4"])
        #expect(reader.wait() == .code(0), "\(reader.errors)")
        #expect(reader.outputText.contains("3.0 s · 44.1 kHz · stereo"), "\(reader.outputText)")
        for arguments in [["plot", "-"], ["send", "--input", "-", "rtp://127.0.0.1:9"]] {
            #expect(try pipe("a.raw", into: arguments).wait() == .code(69))
        }
    }

    /// A few bytes of noise, some of which look like the header of a frame that extends beyond their end.
    @Test func littleNoiseIsNoSoundEither() throws {
        for seed in 0..<12 {
            var chance = SeededRandom(seed: UInt64(seed))
            folder.write((0..<(700 << (seed % 4))).map { _ in UInt8(truncatingIfNeeded: chance.next()) }, to: "noise")
            #expect(try pipe("noise", into: ["plot", "-"]).wait() == .code(69))
        }
    }

    @Test func plotReadsAddressesAsTheyAreWritten() throws {
        folder.write(Folder.bytes(of: folder("in.wav")), to: "a b.wav")
        let server = try SoundServer(folder)
        for address in ["file://\(folder.path)/a%20b.wav", server.address("a%20b.wav"), folder("a b.wav")] {
            if address.hasPrefix("http") { folder.write(Folder.bytes(of: folder("in.wav")), to: "a%20b.wav") }
            let run = try tenfour(["plot", address, "--size", "60x4"])
            #expect(run.end == .code(0) && run.output.contains("3.0 s · 48 kHz · mono"), "\(run)")
        }
        folder.write("in.wav\nnone.wav\n", to: "list.m3u")
        let run = try tenfour(["plot", folder("list.m3u"), "--size", "60x4"])
        #expect(run.errors.contains("list.m3u is a playlist: drawing the first of its 2 entries, \(folder("in.wav"))"))
    }

    @Test func plotUsesTheGivenProxy() throws {
        let server = try SoundServer(folder)
        let proxy = try ProxyServer()
        let address = server.address("in.wav", host: "nobody.invalid")
        let run = try tenfour([
            "plot", address, "--proxy", "http://127.0.0.1:\(proxy.port)", "--header", "X-Key: 7", "--timeout", "5",
            "--size", "60x4",
        ])
        #expect(run.end == .code(0), "\(run.errors)")
        #expect(server.requests.first?.contains("X-Key=7") == true)
    }

    @Test func aPictureOfWhatBreaksOffIsNotWaitedForForEver() throws {
        let server = try SoundServer(folder)
        let run = try tenfour([
            "plot", server.address("in.wav", "norange", "stall=20000"), "--timeout", "0.2", "--give-up-after", "0.5",
        ])
        #expect(run.end == .code(1) && run.errors.contains("--give-up-after"), "\(run.errors)")
        #expect(run.output.contains("dB"), "what arrived is drawn")
    }
}
