#if FFmpeg
    import TenfourAudioCore
    import TenfourMediaSource
    import TenfourSeededRandom
    import TestSupport
    import Testing

    /// Seeks in containers whose packets have timestamps of their own, with and without an index.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct ContainerSeekTests {
        struct Kind: CustomTestStringConvertible, Sendable {
            var testDescription: String
            var ending: String
            var options: [String]
            var hasPictures = false
            /// Whether the file states its duration, or the last timestamp is read.
            var knowsDuration = true
        }

        private static let aac = ["-c:a", "aac", "-b:a", "128k", "-aac_pns", "0"]

        static let kinds = [
            Kind(testDescription: "TS with AAC", ending: "ts", options: aac),
            Kind(testDescription: "TS with MP2", ending: "ts", options: ["-c:a", "mp2", "-b:a", "192k"]),
            Kind(testDescription: "TS with AC-3", ending: "ts", options: ["-c:a", "ac3", "-b:a", "192k"]),
            Kind(
                testDescription: "TS with pictures", ending: "ts", options: aac + ["-c:v", "mpeg2video"],
                hasPictures: true),
            Kind(
                testDescription: "TS whose timestamps wrap", ending: "ts",
                options: aac + ["-output_ts_offset", "95430"]),
            Kind(testDescription: "Matroska", ending: "mka", options: ["-c:a", "flac"]),
            Kind(
                testDescription: "Matroska without Cues", ending: "mka",
                options: ["-c:a", "flac", "-f", "matroska", "-live", "1"], knowsDuration: false),
            Kind(
                testDescription: "Matroska with Cues in front", ending: "mka",
                options: ["-c:a", "flac", "-cues_to_front", "1"]),
            Kind(
                testDescription: "Matroska with pictures", ending: "mkv",
                options: ["-c:a", "flac", "-c:v", "mpeg4"], hasPictures: true),
            Kind(
                testDescription: "Matroska with pictures, without Cues", ending: "mkv",
                options: ["-c:a", "flac", "-c:v", "mpeg4", "-f", "matroska", "-live", "1"], hasPictures: true,
                knowsDuration: false),
            Kind(testDescription: "WebM", ending: "webm", options: ["-c:a", "libvorbis"]),
        ]

        private static let hasMusepack = (try? Program.path(of: "mpcenc")) != nil

        private func make(_ kind: Kind) throws -> [UInt8] {
            let folder = Folder()
            if kind.ending == "mpc" {
                try Files.run("mpcenc", ["--silent", "--overwrite", Files.shared.wav, folder("a.mpc")])
                return Folder.bytes(of: folder("a.mpc"))
            }
            let pictures = kind.hasPictures ? ["-f", "lavfi", "-i", "testsrc=size=320x240:rate=10", "-shortest"] : []
            try Files.run(
                "ffmpeg",
                ["-v", "error", "-y", "-i", Files.shared.wav] + pictures + kind.options + [folder("a." + kind.ending)])
            return Folder.bytes(of: folder("a." + kind.ending))
        }

        /// Returns by how many frames `piece` lies later in `whole` than at `frame`, at most `reach` earlier or later.
        private static func shift(of piece: [Float], in whole: [Float], from frame: Int, reach: Int) -> Int? {
            var best: (error: Float, shift: Int)?
            for shift in -reach...reach {
                let start = 2 * (frame + shift)
                guard start >= 0, start + piece.count <= whole.count else { continue }
                var error: Float = 0
                for index in stride(from: 0, to: piece.count, by: 2) {
                    let distance = piece[index] - whole[start + index]
                    error += distance * distance
                    if let best, error >= best.error { break }
                }
                if best.map({ error < $0.error }) ?? true { best = (error, shift) }
            }
            guard let best, best.error / Float(piece.count) < 1e-3 else { return nil }
            return best.shift
        }

        private static let musepack = [Kind(testDescription: "Musepack", ending: "mpc", options: [])]

        @Test(.enabled(if: hasMusepack, "needs musepack-tools"), arguments: musepack)
        func musepackIsPlayed(kind: Kind) throws {
            let reader = try openReader(StoredBytes(make(kind)), format: nil)
            let frames = try reader.readAll().count / reader.format.channelCount
            #expect(abs(Double(frames) / Double(reader.format.rate.hertz) - 30) < 0.1)
        }

        @Test(arguments: kinds) func aSeekIsRightWithinTwoHundredthsOfASecond(kind: Kind) throws {
            let bytes = try make(kind)
            let whole = try openReader(StoredBytes(bytes), format: nil).readAll()
            let reader = try openReader(StoredBytes(bytes), format: nil)
            let hertz = reader.format.rate.hertz
            var chance = SeededRandom(seed: 9)
            var positions = (0..<6).map { _ in Duration.milliseconds(chance.below(29_000)) }
            positions += [.zero, .seconds(29), .milliseconds(10)]
            for position in positions {
                let landed = try reader.seek(to: position)
                #expect(landed.isExact && abs((landed.value - position).inSeconds) < 0.02, "\(landed), \(position)")
                let piece = try reader.readSome(1_024)
                let frame = FrameCount(position, at: reader.format.rate).rawValue
                let shift = try #require(
                    Self.shift(of: piece, in: whole, from: frame, reach: hertz / 40), "\(position) is not found")
                #expect(Double(abs(shift)) / Double(hertz) < 0.02, "\(shift) frames off at \(position)")
            }
        }

        @Test(arguments: kinds) func theDurationIsKnownAndExactWhereTheFileTellsIt(kind: Kind) throws {
            let bytes = try make(kind)
            let reader = try openReader(StoredBytes(bytes), format: nil)
            let first = try #require(reader.demuxer.duration)
            let frames = try reader.readAll().count / reader.format.channelCount
            let real = FrameCount(frames).duration(at: reader.format.rate)
            #expect(first.isExact == kind.knowsDuration)
            let limit = kind.knowsDuration ? 0.06 : 12
            #expect(abs((first.value - real).inSeconds) < limit, "\(first.value) and \(real)")
            #expect(reader.demuxer.duration?.isExact == true)
            #expect(abs((reader.demuxer.duration!.value - real).inSeconds) < 0.06)
        }

        /// Over a network, each read elsewhere is a request.
        @Test(arguments: kinds) func aSeekReadsLittleOfTheFile(kind: Kind) throws {
            let bytes = try make(kind)
            let source = StoredBytes(bytes, isHere: false)
            let reader = try openReader(source, format: nil)
            _ = try reader.readSome(100)
            let (read, jumps) = (source.readByteCount, source.jumpCount)
            _ = try reader.seek(to: .seconds(26))
            _ = try reader.readSome(100)
            #expect(source.readByteCount - read < bytes.count / 2, "\(source.readByteCount - read) of \(bytes.count)")
            #expect(source.jumpCount - jumps <= 8)
        }
    }
#endif
