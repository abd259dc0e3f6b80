import TenfourSeededRandom

#if FFmpeg
    import Glibc
    import TenfourAudioCore
    import TenfourMediaSource
    import TestSupport
    import Testing

    /// Files without audio are refused, however many of their bytes look like the headers of frames.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct RecognitionTests {
        private static func expectRefused(_ bytes: [UInt8], _ comment: Comment) {
            let error = #expect(throws: ReaderError.self, comment) {
                try openReader(StoredBytes(bytes), format: .mono)
            }
            #expect([.unknownFormat, .notAudio].contains(error?.kind), comment)
        }

        /// Returns the paths of up to `count` files in a folder, each of at most 5 MB.
        private static func files(in folder: String, _ count: Int) -> [String] {
            let names = Folder.entries(of: folder).filter { !$0.hasPrefix(".") }.sorted()
            return names.lazy.compactMap { name -> String? in
                var status = stat()
                let path = "\(folder)/\(name)"
                guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0,
                    status.st_size < 5_000_000
                else { return nil }
                return path
            }.prefix(count).map { $0 }
        }

        @Test func noProgramIsSound() {
            let programs = Self.files(in: "/usr/bin", 600) + Self.files(in: "/usr/sbin", 100)
            #expect(programs.count > 100)
            for path in programs { Self.expectRefused(Folder.bytes(of: path), "\(path)") }
        }

        @Test func noRandomBytesAreSound() {
            for seed in 0..<200 {
                var chance = SeededRandom(seed: UInt64(seed))
                let bytes = (0..<1_000 << (seed % 8)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
                Self.expectRefused(bytes, "seed \(seed)")
            }
        }

        @Test func noArchiveOrPictureIsSound() throws {
            let folder = Folder()
            let text = (0..<20_000).map { "line \($0 &* 7_919)\n" }.joined()
            folder.write(text, to: "a.txt")
            for command in [["gzip", "-k"], ["bzip2", "-k"], ["xz", "-k"]] {
                try Files.run(command[0], [command[1], folder("a.txt")])
            }
            try Files.run("tar", ["-C", folder.path, "-cf", folder("a.tar"), "a.txt"])
            for ending in ["png", "jpg", "gif", "bmp", "tiff", "webp", "ppm", "avif"] {
                // An ffmpeg without the encoder leaves the picture out.
                try? Files.run(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i", "testsrc=size=200x200", "-frames:v", "1",
                        folder("a.\(ending)"),
                    ])
            }
            let names = Folder.entries(of: folder.path).filter { $0.hasPrefix("a.") }
            #expect(names.count > 7)
            for name in names { Self.expectRefused(Folder.bytes(of: folder(name)), "\(name)") }
        }

        @Test func aVideoWithoutSoundIsSaidToBeOne() throws {
            let folder = Folder()
            for name in ["a.mp4", "a.mkv"] {
                try Files.run(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:duration=1", "-c:v", "mpeg4",
                        folder(name),
                    ])
                let error = #expect(throws: ReaderError.self) {
                    try openReader(StoredBytes(Folder.bytes(of: folder(name))), format: nil)
                }
                #expect("\(error!)".contains("this is a video without sound: name another file"), "\(error!)")
                #expect(error?.kind == .notAudio)
            }
        }

        /// Compilers write a call backwards, then a move: FF FF 48 looks like a header of Layer I.
        @Test(arguments: [UInt64(1), 2, 3])
        func machineCodeIsNoSound(_ seed: UInt64) {
            var chance = SeededRandom(seed: seed)
            var bytes: [UInt8] = []
            func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next()) } }
            while bytes.count < 400_000 {
                bytes += noise(3 + chance.below(38)) + [0xE8] + noise(2) + [0xFF, 0xFF, 0x48]
                bytes += [chance.below(2) == 0 ? 0x89 : 0x8B] + noise(1)
            }
            Self.expectRefused(bytes, "seed \(seed)")
        }

        /// A header, and up to four that follow it at the right distances.
        @Test(arguments: 1...5, [0, 100, 70_000])
        func aFewHeadersAreNoSound(_ count: Int, _ offset: Int) {
            var chance = SeededRandom(seed: UInt64(count * 1_000 + offset))
            var bytes = (0..<200_000).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            for number in 0..<count {
                bytes.replaceSubrange(
                    offset + 192 * number..<offset + 192 * number + 4, with: [0xFF, 0xFF, 0x48, 0x8B])
            }
            Self.expectRefused(bytes, "\(count) headers at \(offset)")
        }

        /// MPEG-1 Layer I, mono, 48 kHz, 128 kbit/s: a tone in the lowest of the 32 bands.
        private static func layer1(_ frameCount: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            for frame in 0..<frameCount {
                var bits: [Bool] = []
                func append(_ value: Int, _ count: Int) {
                    for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
                }
                append(14, 4)  // 15 bits for each sample of the lowest band, and none for the others
                for _ in 0..<31 { append(0, 4) }
                append(3, 6)  // scale factor 1
                for sample in 0..<12 {
                    let value = 0.3 * sin(2 * .pi * 440 * Double(12 * frame + sample) / 1_500)
                    append(Int((value * 32_767 / 2).rounded()) + 16_383, 15)
                }
                bits += repeatElement(false, count: 124 * 8 - bits.count)
                bytes += [0xFF, 0xFF, 0x44, 0xC0]
                for start in stride(from: 0, to: bits.count, by: 8) {
                    bytes.append(bits[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) })
                }
            }
            return bytes
        }

        @Test(arguments: [0, 1, 127, 1_000, 5_000])
        func soundThatWasCutAnywhereIsHeard(_ offset: Int) throws {
            let heard = try ToneFiles.heard(Array(Self.layer1(500).dropFirst(offset)))
            #expect(abs(Double(heard.count) / 48_000 - 4 + Double(offset) / 16_000) < 0.02)
            #expect(abs(ToneFiles.frequency(heard, around: 2) - 440) < 2)
        }

        /// A named format is searched for in the first MiB, as before.
        @Test func aNamedFormatMayBeginLater() throws {
            var chance = SeededRandom(seed: 9)
            let noise = (0..<50_000).map { _ in UInt8(truncatingIfNeeded: chance.next()) & 0x7F }
            let bytes = noise + Self.layer1(500)
            Self.expectRefused(bytes, "noise first")
            let heard = try openReader(StoredBytes(bytes), format: .mono, as: .elementary).readAll()
            #expect(abs(Double(heard.count) / 48_000 - 4) < 0.02)
        }
    }
#endif
