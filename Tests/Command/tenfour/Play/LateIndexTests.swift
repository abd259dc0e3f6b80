#if FFmpeg
    import TenfourAudioCore
    import TenfourAudioFile
    import TestSupport
    import Testing

    /// An M4A file whose index lies after its audio, as phones record it.
    @Suite(.onItsOwnThread, .inRealTime) struct LateIndexTests {
        private let folder = Folder()

        init() throws {
            var file = try AudioFileWriter(path: folder("tone.wav"), format: .mono)
            try file.write(Tone.samples(seconds: 20).span)
            try file.close()
            let made = try Program.run(
                "ffmpeg", ["-v", "error", "-i", folder("tone.wav"), "-b:a", "128k", folder("late.m4a")])
            #expect(made.end == .code(0))
        }

        private func expectWhole(_ run: Program, sourceLocation: SourceLocation = #_sourceLocation) throws {
            #expect(run.wait() == .code(0), "\(run.errors)", sourceLocation: sourceLocation)
            let file = try AudioFileReader(path: folder("out.wav"))
            #expect(file.frameCount == FrameCount(20 * 48_000), sourceLocation: sourceLocation)
        }

        private func play(_ address: String, input: Program.Stream = .own) throws -> Program {
            try Program("tenfour", ["play", address, "-o", folder("out.wav"), "-c", "1"], input: input)
        }

        @Test(arguments: ["norange", "norange/chunked", "norange/close/slow=400000"])
        func itPlaysFromAServerThatKnowsNoRanges(_ how: String) throws {
            let server = try SoundServer(folder)
            try expectWhole(play(server.address("late.m4a", how)))
        }

        @Test func itPlaysFromAPipe() throws {
            let pipe = Pipe()
            let cat = try Program("cat", [folder("late.m4a")], output: .descriptor(pipe.input))
            let run = try play("-", input: .descriptor(pipe.output))
            pipe.closeInput()
            try expectWhole(run)
            #expect(cat.wait() == .code(0))
        }
    }
#endif
