import TenfourAudioCore
import TenfourAudioFile
import TestSupport
import Testing

/// The programs for the player and its stages: each has at most 25 lines, stands on a page, and is built and run as a
/// user's would be.
@Suite(.onItsOwnThread) struct PlayerProgramTests {
    private let folder = Folder()

    private static func program(_ name: String) -> String {
        Folder.text(of: Repository.path("Tests/FirstPrograms/Programs/\(name)/main.swift"))
    }

    @Test(arguments: [
        ("Audio/Effects", "effects"), ("Audio/Effects", "own-effect"), ("Audio/TimePitch", "time-pitch"),
        ("Audio/Waveform", "waveform-png"), ("Player/MediaSource", "media-source"),
        ("Player/HTTPSource", "http-source"), ("Player/HLSSource", "hls-source"),
        ("Player/Player", "own-source"), ("Player/Player", "own-decoder"),
        ("Player/Player", "level-meter"), ("Player/Player", "headless-queue"),
    ])
    func thePageShowsAShortProgram(module: String, name: String) {
        let last = module.split(separator: "/")[1]
        let page = Folder.text(of: Repository.path("Sources/\(module)/\(last).docc/\(last).md"))
        #expect(page.contains("```swift\n\(Self.program(name))```\n"))
        #expect(Self.program(name).split(separator: "\n").count <= 25)
    }

    private func run(_ name: String, _ arguments: [String]) throws -> String {
        let run = try Program.run("first-\(name)", arguments)
        #expect(run.end == .code(0) && run.errors == "", "\(run.errors)")
        return run.output
    }

    /// Writes a tone of half the full scale.
    private func writeTone(_ name: String, seconds: Double) {
        folder.write(Recording(channels: [Tone.samples(seconds: seconds)]).wav(), to: name)
    }

    @Test func bytesFromMemoryArePlayed() throws {
        writeTone("in.wav", seconds: 0.5)
        #expect(try run("own-source", [folder("in.wav"), folder("out.wav")]) == "")
        let (given, written) = (try Recording(wav: folder("in.wav")), try Recording(wav: folder("out.wav")))
        #expect(written.frameCount == 24_000)
        #expect((1_000..<24_000).allSatisfy { abs(written.channels[0][$0] - given.channels[0][$0]) < 0.001 })
    }

    @Test func aDecoderOfOnesOwnDecodesAndTheRateIsConverted() throws {
        folder.write([UInt8](repeating: 192, count: 4_000) + [UInt8](repeating: 96, count: 4_000), to: "in.raw")
        #expect(try run("own-decoder", [folder("in.raw"), folder("out.wav")]) == "")
        let sound = try Recording(wav: folder("out.wav"))
        #expect(sound.rate == 48_000 && abs(sound.frameCount - 48_000) < 100)
        #expect(abs(sound.channels[0][12_000] - 0.5) < 0.001 && abs(sound.channels[0][36_000] + 0.25) < 0.001)
    }

    @Test func anEffectOfOnesOwnSwapsTheChannels() throws {
        let (left, right) = ([Float](repeating: 0.5, count: 48_000), [Float](repeating: -0.25, count: 48_000))
        folder.write(Recording(channels: [left, right]).wav(), to: "in.wav")
        #expect(try run("own-effect", [folder("in.wav"), folder("out.wav")]) == "")
        let written = try Recording(wav: folder("out.wav"))
        #expect(written.channels[0].count == 48_000)
        #expect(abs(written.channels[0][24_000] + 0.25) < 0.001 && abs(written.channels[1][24_000] - 0.5) < 0.001)
    }

    @Test func aLevelMeterShowsWhatIsHeard() throws {
        writeTone("in.wav", seconds: 0.5)
        let lines = try run("level-meter", [folder("in.wav")]).split(separator: "\n")
        // A sine of half the full scale has −9 dB.
        let shown = lines.filter { $0.hasSuffix("seconds \(String(repeating: "=", count: 51)) -9") }
        #expect(shown.count > 20 && lines.first?.hasPrefix("0.0 seconds ") == true, "\(lines)")
    }

    @Test func aQueueIsPlayedWithoutACardAndSaysWhatIsLeftOut() throws {
        writeTone("one.wav", seconds: 0.2)
        writeTone("three.wav", seconds: 0.2)
        let lines = try run("headless-queue", [folder("one.wav"), folder("two.wav"), folder("three.wav")])
            .split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines.contains("1: pcm, \(folder("one.wav"))") && lines.contains("3: pcm, \(folder("three.wav"))"))
        #expect(lines.contains { $0.hasPrefix("2: notFound, there is no file ") })
        #expect(lines.last == "ended: finished")
    }

    @Test func aRecordingIsDrawn() throws {
        writeTone("in.wav", seconds: 0.5)
        #expect(try run("waveform-png", [folder("in.wav"), folder("out.png")]) == "")
        let picture = Folder.bytes(of: folder("out.png"))
        #expect(picture.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        // The width of a PNG is a big-endian number at offset 16.
        #expect(Array(picture[16..<20]) == [0, 0, 0x04, 0xB0])
    }

    @Test func anAnswerAndARefusalAreTold() throws {
        folder.write([1, 2, 3, 4, 5], to: "song")
        let server = try SoundServer(folder)
        let answer = try run("http-source", [server.address("song")])
        #expect(answer.hasPrefix("5 bytes, begins with [1, 2, 3, 4]\n") && answer.contains("Content-Length: 5\n"))
        #expect(try run("http-source", [server.address("song", "status=404")]) == "nothing is there\n")
        let refused = try run("http-source", [server.address("song", "status=403")])
        #expect(refused == "the server answers with status 403\n")
        #expect(try run("http-source", ["http://127.0.0.1:1/"]) == "no server answers\n")
    }

    @Test func thePartsOfAnHLSStreamAreListed() throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXTINF:2.5,\nb.ts\n#EXT-X-ENDLIST\n"
        folder.write(playlist, to: "list.m3u8")
        let output = try run("hls-source", [folder("list.m3u8")])
        #expect(
            output == """
                on demand 6.5 seconds
                \(folder("a.ts")) 4.0 seconds
                \(folder("b.ts")) 2.5 seconds

                """)
    }

    #if FFmpeg
        @Test func aFileThatFFmpegDecodesIsRead() throws {
            writeTone("in.wav", seconds: 1)
            let coder = try Program.run("ffmpeg", ["-v", "error", "-i", folder("in.wav"), folder("in.flac")])
            #expect(coder.end == .code(0), "\(coder.errors)")
            let output = try run("media-source", [folder("in.flac")])
            #expect(output == "flac, 48000 Hz\n1.0 seconds of audio\npeak 50%\n")
        }
    #endif
}
