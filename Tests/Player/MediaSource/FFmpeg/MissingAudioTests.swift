#if FFmpeg
    import TenfourAudioCore
    import TenfourMediaSource
    import TenfourSeededRandom
    import TestSupport
    import Testing

    /// Files that are damaged, cut or joined name what is missing at their end; whole files do not.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct MissingAudioTests {
        /// A file name and the options with which ffmpeg makes it.
        struct Kind: CustomTestStringConvertible, Sendable {
            var name: String
            var options: [String] = []
            /// The options that come before the output name of a second run of ffmpeg, which copies the packets.
            var copy: [String]?
            var testDescription: String { "\(name) \(options.joined(separator: " "))" }
        }

        private static let seconds = 20.0

        static let damageable = [
            Kind(name: "a.mp3", options: ["-b:a", "128k"]),
            Kind(name: "a.mp3", options: ["-q:a", "5", "-write_xing", "0"]),
            Kind(name: "a.aac"), Kind(name: "a.ac3"), Kind(name: "a.eac3"), Kind(name: "a.flac"), Kind(name: "a.wv"),
            Kind(name: "a.wma"), Kind(name: "a.mka", options: ["-cluster_time_limit", "1000"]), Kind(name: "a.ts"),
            Kind(name: "a.ogg", options: ["-c:a", "libvorbis"]), Kind(name: "a.opus", options: ["-c:a", "libopus"]),
            Kind(name: "a.m4a", options: ["-movflags", "+faststart"]),
        ]

        /// Kinds whose header or index states the length.
        static let stated = [
            Kind(name: "a.mp3", options: ["-b:a", "128k"]), Kind(name: "a.flac"), Kind(name: "a.wv"),
            Kind(name: "a.wma"), Kind(name: "a.mka"), Kind(name: "a.wav"), Kind(name: "a.aiff"),
            Kind(name: "a.wav", options: ["-c:a", "pcm_mulaw"]), Kind(name: "a.wav", options: ["-ac", "6"]),
            Kind(name: "a.wav", options: ["-rf64", "always"]),
            Kind(name: "a.m4a", options: ["-movflags", "+faststart"]),
        ]

        /// Kinds that do not state the length, and are cut within a page.
        static let paged = [
            Kind(name: "a.opus", options: ["-c:a", "libopus"]), Kind(name: "a.ogg", options: ["-c:a", "libvorbis"]),
        ]

        static let whole =
            damageable + stated
            + [
                Kind(name: "a.mp2"), Kind(name: "a.w64"), Kind(name: "a.tta"), Kind(name: "a.caf"), Kind(name: "a.au"),
                Kind(name: "a.avi"),
                Kind(name: "a.flv", options: ["-ar", "44100"]), Kind(name: "a.mpg"), Kind(name: "a.webm"),
                Kind(name: "a.nut"), Kind(name: "a.voc"), Kind(name: "a.mov"),
                Kind(name: "a.caf", options: ["-c:a", "alac"]), Kind(name: "a.m4a", options: ["-c:a", "alac"]),
                Kind(name: "a.mp4", options: ["-movflags", "frag_keyframe+empty_moov", "-frag_duration", "500000"]),
                Kind(name: "a.mka", options: ["-c:a", "libopus", "-frame_duration", "60"]),
                Kind(name: "a.ogg", options: ["-c:a", "flac"]),
                // Parts that were cut out, whose headers or edit lists are those of the whole.
                Kind(name: "a.m4a", copy: ["-ss", "3", "-t", "10"]),
                Kind(name: "a.mp3", copy: ["-ss", "3", "-t", "10"]),
                Kind(name: "a.mka", copy: ["-ss", "3", "-t", "10"]),
                Kind(name: "a.flac", copy: ["-ss", "3", "-t", "10"]), Kind(name: "a.flac", copy: ["-t", "10"]),
                Kind(name: "a.ts", copy: ["-ss", "3", "-t", "10"]), Kind(name: "a.wv", copy: ["-ss", "3", "-t", "10"]),
                // Audio that begins late, and pauses of four seconds without packets.
                Kind(name: "a.mka", copy: ["-output_ts_offset", "4"]),
                Kind(name: "a.mka", options: ["-af", "aselect=not(between(t\\,5\\,9))"]),
                Kind(name: "a.ts", options: ["-af", "aselect=not(between(t\\,5\\,9))"]),
                Kind(name: "a.m4a", options: ["-af", "aselect=not(between(t\\,5\\,9))"]),
            ]

        private static func bytes(_ kind: Kind) throws -> [UInt8] {
            let folder = Folder()
            let source =
                "aevalsrc=exprs='0.3*sin(2*PI*440*t)*(0.6+0.4*sin(3*t))|0.1*random(0)':s=48000:d=\(seconds)"
            try Files.run(
                "ffmpeg", ["-v", "error", "-y", "-f", "lavfi", "-i", source] + kind.options + [folder(kind.name)])
            guard let copy = kind.copy else { return Folder.bytes(of: folder(kind.name)) }
            try Files.run(
                "ffmpeg",
                ["-v", "error", "-y"] + copy.filter { _ in copy[0] == "-ss" } + ["-i", folder(kind.name), "-c", "copy"]
                    + copy.filter { _ in copy[0] != "-ss" } + [folder("copy.\(kind.name)")])
            return Folder.bytes(of: folder("copy.\(kind.name)"))
        }

        /// Reads all, and returns the error at the end with the number of seconds before it.
        private static func read(_ bytes: [UInt8]) throws -> (seconds: Double, error: ReaderError?) {
            try read(from: StoredBytes(bytes))
        }

        private static func read(from source: any ByteSource) throws -> (seconds: Double, error: ReaderError?) {
            let reader = try openReader(source, format: .mono)
            let (heard, error) = reader.readToError()
            // The error is said once.
            if error != nil { #expect(try reader.readSome(4_800).isEmpty) }
            return (Double(heard.count) / 48_000, error)
        }

        @Test(arguments: whole) func aWholeFileIsNotAccused(_ kind: Kind) throws {
            let heard = try Self.read(Self.bytes(kind))
            #expect(heard.error == nil, "\(heard.error.map { "\($0)" } ?? "")")
            #expect(heard.seconds > 9, "\(heard.seconds) s")
        }

        @Test(arguments: damageable) func aHoleIsNamedAfterTheRestWasHeard(_ kind: Kind) throws {
            let bytes = try Self.bytes(kind)
            for seed in 1...3 as ClosedRange<UInt64> {
                var chance = SeededRandom(seed: seed)
                let begin = bytes.count * Int.random(in: 20...60, using: &chance) / 100
                var damaged = bytes
                for index in begin..<begin + bytes.count / 5 {
                    damaged[index] = seed == 3 ? UInt8.random(in: 0...255, using: &chance) : 0
                }
                let heard = try Self.read(damaged)
                let text = heard.error.map { "\($0)" } ?? "nothing"
                #expect(heard.error?.kind == .damaged, "seed \(seed): \(text), \(heard.seconds) s")
                #expect(text.contains(" are missing, since the file is damaged"), "seed \(seed): \(text)")
                #expect(13..<17.5 ~= heard.seconds, "seed \(seed): \(heard.seconds) s, \(text)")
            }
        }

        /// Frames with a wrong checksum are not heard, and named by their total length.
        @Test(arguments: [Kind(name: "a.flac"), Kind(name: "a.wv")]) func damagedFramesAreNoNoise(_ kind: Kind) throws {
            let bytes = try Self.bytes(kind)
            let peak = try openReader(StoredBytes(bytes), format: .mono).readAll().map(abs).max() ?? 0
            var damaged = bytes
            var chance = SeededRandom(seed: 1)
            for part in 1..<40 {
                let place = bytes.count * part / 40 + Int.random(in: 0..<500, using: &chance)
                damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            }
            let (heard, error) = try openReader(StoredBytes(damaged), format: .mono).readToError()
            #expect((heard.map(abs).max() ?? 0) <= peak + 0.001)
            let text = error.map { "\($0)" } ?? "nothing"
            let missing = Double(text.split(separator: " ").dropFirst().first ?? "") ?? 0
            #expect(text.contains(" places, the first at 0."), "\(text)")
            #expect(abs(Double(heard.count) / 48_000 + missing - 20) < 0.1, "\(heard.count), \(text)")
        }

        @Test func aSeekIntoAHoleOfFLACContinuesBehindIt() throws {
            let bytes = try Self.bytes(Kind(name: "a.flac"))
            let whole = try openReader(StoredBytes(bytes), format: .mono).readAll()
            var damaged = bytes
            for index in bytes.count / 2..<bytes.count * 7 / 10 { damaged[index] = 0 }
            let reader = try openReader(StoredBytes(damaged), format: .mono)
            for position in [11.0, 12, 13.5, 18, 9] {
                _ = try reader.seek(to: .seconds(position))
                let (heard, error) = reader.readToError()
                let text = error.map { "\($0)" } ?? "nothing"
                let begin = " s from \(Int(max(position, 9.9)))."
                #expect(position > 14 || text.contains(begin), "\(position): \(text)")
                #expect((error == nil) == (position > 14), "\(position): \(text)")
                #expect(heard.suffix(240_000).elementsEqual(whole.suffix(min(heard.count, 240_000))), "\(position)")
                let missing = Double(text.split(separator: " ").dropFirst().first ?? "") ?? 0
                #expect(abs(Double(heard.count) / 48_000 + missing + position - 20) < 0.1, "\(position): \(text)")
            }
        }

        @Test(arguments: stated) func aCutEndIsNamed(_ kind: Kind) throws {
            let bytes = try Self.bytes(kind)
            for seed in 1...3 as ClosedRange<UInt64> {
                var chance = SeededRandom(seed: seed)
                let share = Int.random(in: 30...90, using: &chance)
                let heard = try Self.read(Array(bytes.prefix(bytes.count * share / 100)))
                let text = heard.error.map { "\($0)" } ?? "nothing"
                #expect(heard.error?.kind == .damaged, "\(share) %: \(text)")
                #expect(text.contains("the end from ") && text.contains(" s on (of 20.0 s) is missing"), "\(text)")
                #expect(abs(heard.seconds - 0.2 * Double(share)) < 2, "\(share) %: \(heard.seconds) s")
            }
        }

        /// RF64 whose header states the largest number of bytes.
        @Test func aHeaderMayStateAnySize() throws {
            var bytes = try Self.bytes(Kind(name: "a.wav", options: ["-c:a", "pcm_mulaw", "-rf64", "always"]))
            let place = try #require(bytes.firstRange(of: Array("ds64".utf8))).upperBound + 4
            for index in 8..<16 { bytes[place + index] = index == 15 ? 0x7F : 0xFF }
            let heard = try Self.read(bytes)
            #expect(abs(heard.seconds - 20) < 0.1, "\(heard.seconds) s")
            let text = heard.error.map { "\($0)" } ?? "nothing"
            #expect(text.contains("the end from 20.0 s on"), "\(text)")
        }

        /// A recording of a station that was stopped.
        @Test(arguments: paged) func anEndWithinAPageIsNotNamed(_ kind: Kind) throws {
            let bytes = try Self.bytes(kind)
            for share in [60, 61, 63] {
                let heard = try Self.read(Array(bytes.prefix(bytes.count * share / 100)))
                #expect(heard.error == nil, "\(heard.error.map { "\($0)" } ?? "")")
                #expect(10..<13 ~= heard.seconds, "\(heard.seconds) s")
            }
        }

        /// Zeros that fill the last block of a disk.
        @Test(arguments: paged + [Kind(name: "a.wav", options: ["-ar", "8000", "-ac", "1", "-c:a", "pcm_mulaw"])])
        func zerosBehindAFileAreNotNamed(_ kind: Kind) throws {
            #expect(try Self.read(Self.bytes(kind) + [UInt8](repeating: 0, count: 4_096)).error == nil)
        }

        @Test func aSecondFileThatIsNotPlayedIsNamed() throws {
            let kinds = [
                Kind(name: "a.wav"), Kind(name: "a.ac3"), Kind(name: "a.mp3"), Kind(name: "a.m4a"),
                Kind(name: "a.m4a", options: ["-movflags", "+faststart"]),
            ]
            let files = try kinds.map { try Self.bytes($0) }
            for pair in [[0, 0], [1, 2], [2, 1], [3, 3], [4, 3]] {
                let heard = try Self.read(files[pair[0]] + files[pair[1]])
                let text = heard.error.map { "\($0)" } ?? "nothing"
                #expect(text.contains("bytes that follow at 20.0 s are left out"), "\(pair): \(text)")
                #expect(abs(heard.seconds - 20) < 0.1)
            }
            // Joined files of one kind, and tags between and behind them, are whole.
            let tag = Array("TAG".utf8) + [UInt8](repeating: 0x20, count: 125)
            for bytes in [files[2] + files[2], files[2] + tag + files[2] + tag, files[1] + files[1]] {
                let heard = try Self.read(bytes)
                #expect(heard.error == nil, "\(heard.error.map { "\($0)" } ?? "")")
                #expect(heard.seconds > 39)
            }
        }

        /// A server without ranges that closes the connection always at the same place.
        @Test(arguments: [
            Kind(name: "a.mp3", options: ["-b:a", "128k"]), Kind(name: "a.m4a", options: ["-movflags", "+faststart"]),
            Kind(name: "a.flac"), Kind(name: "a.wav"), Kind(name: "a.opus", options: ["-c:a", "libopus"]),
            Kind(name: "a.ogg", options: ["-c:a", "libvorbis"]),
        ])
        func anEndThatAServerDoesNotSendIsNamed(_ kind: Kind) throws {
            let bytes = try Self.bytes(kind)
            let heard = try Self.read(from: EndingEarly(bytes, at: bytes.count / 2))
            let text = heard.error.map { "\($0)" } ?? "nothing"
            #expect(text.contains("the end from ") && text.contains(" is missing"), "\(text)")
            #expect(8..<11 ~= heard.seconds, "\(heard.seconds) s")
        }

        /// Only bytes that have an end can be incomplete: a station, and a file to which a program appends, are not.
        @Test func aStreamAndAGrowingFileAreNotAccused() throws {
            var bytes = try Self.bytes(Kind(name: "a.flac"))
            bytes.removeLast(bytes.count / 3)
            let stream = try openReader(StoredBytes(bytes, knowsLength: false, isSeekable: false), format: .mono)
            #expect(try stream.readAll().count > 12 * 48_000)
            let wav = try Self.bytes(Kind(name: "a.wav"))
            let folder = Folder()
            folder.write(Array(wav.prefix(wav.count / 3)), to: "a.wav")
            let reader = try openReader(FileByteSource.open(folder("a.wav")), format: .mono)
            _ = try reader.readSome(4_800)
            folder.write(Array(wav.prefix(wav.count / 2)), to: "a.wav")
            #expect(abs(Double(try reader.readAll().count) / 48_000 - 9.9) < 0.1)
        }
    }

    /// Bytes of which the source states more than it has, until they end. They can be read once.
    private final class EndingEarly: ByteSource, @unchecked Sendable {
        private let bytes: [UInt8]
        private let end: Int
        private var isOver = false
        private var place = 0

        init(_ bytes: [UInt8], at end: Int) { (self.bytes, self.end) = (bytes, end) }

        var limits = BufferLimits()
        var state: ByteSourceState {
            ByteSourceState(
                phase: isOver ? .ended : .receiving, byteCount: isOver ? end : bytes.count, available: place..<end,
                isRepeatable: true)
        }

        func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
            let count = min(max(end - offset, 0), buffer.count)
            if offset >= end { isOver = true }
            if count > 0 { unsafe buffer.copyBytes(from: bytes[offset..<offset + count]) }
            place = max(place, offset + count)
            return count
        }

        func holdAll() {}
        func interrupt() {}
        func resume() {}
        func pause(_ isPaused: Bool) {}
        func stop() {}
    }
#endif
