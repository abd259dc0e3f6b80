import TenfourSeededRandom

#if FFmpeg
    import TenfourAudioCore
    import TenfourMediaSource
    import TestSupport
    import Testing

    /// MP3 whose header says little or something wrong about the length, and MP3 with damage, is heard whole.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct MP3HeaderTests {
        private static let withoutHeader = ["-write_xing", "0", "-id3v2_version", "0"]

        private static func expectWhole(
            _ bytes: [UInt8], seconds: ClosedRange<Double>, hasHole: Bool = false, _ comment: Comment
        ) throws {
            for (isSeekable, isHere) in [(true, true), (true, false), (false, true)] {
                let source = StoredBytes(bytes, knowsLength: isSeekable, isSeekable: isSeekable, isHere: isHere)
                let reader = try openReader(source, format: .mono)
                let (heard, error) = reader.readToError()
                // A hole is told from tags only where they can be read again.
                #expect((error?.kind == .damaged) == (hasHole && isSeekable), "\(comment): \(error as Any)")
                let length = Double(heard.count) / 48_000
                #expect(seconds ~= length, "\(comment): \(length) s")
                #expect(abs(ToneFiles.frequency(heard, around: 2) - 440) < 2, comment)
                #expect(abs(ToneFiles.frequency(heard, around: length - 1) - 440) < 2, comment)
                // After the end, the length is known.
                let duration = try #require(reader.demuxer.duration)
                #expect(abs(duration.value.inSeconds - length) < 0.06, "\(comment): \(duration)")
            }
        }

        /// The header states 0, a fifth, twice or ten times the frames.
        @Test(arguments: [0.0, 0.2, 2, 10])
        func aWrongNumberOfFramesIsNotBelieved(_ factor: Double) throws {
            var bytes = try ToneFiles.bytes("a.mp3", ["-q:a", "4"], seconds: 10, channelCount: 2)
            let place = try #require(bytes.firstRange(of: Array("Xing".utf8))).lowerBound + 8
            let frames = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            let stated = Int(Double(frames) * factor)
            for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: stated >> (24 - 8 * index)) }
            try Self.expectWhole(bytes, seconds: 9.9...10.1, "\(factor)")
            let duration = try openReader(StoredBytes(bytes), format: .mono).demuxer.duration
            #expect(abs(try #require(duration).value.inSeconds - 10) < 0.5, "\(duration as Any)")
        }

        @Test func theHeaderOfFraunhoferIsRead() throws {
            var bytes = try ToneFiles.bytes("a.mp3", ["-q:a", "4"], seconds: 10, channelCount: 2)
            let first = try #require(bytes.firstRange(of: [0xFF, 0xFB] as [UInt8])).lowerBound
            let place = try #require(bytes.firstRange(of: Array("Xing".utf8))).lowerBound
            let frames = Array(bytes[place + 8..<place + 12])
            for index in place..<place + 120 { bytes[index] = 0 }
            let size = (0..<4).map { UInt8(truncatingIfNeeded: (bytes.count - first) >> (24 - 8 * $0)) }
            let header = Array("VBRI".utf8) + [0, 1, 4, 100, 0, 100] + size + frames + [UInt8](repeating: 0, count: 8)
            bytes.replaceSubrange(first + 36..<first + 36 + header.count, with: header)
            try Self.expectWhole(bytes, seconds: 9.9...10.1, "VBRI")
            let duration = try openReader(StoredBytes(bytes), format: .mono).demuxer.duration
            #expect(abs(try #require(duration).value.inSeconds - 10) < 0.1)
        }

        @Test(arguments: [UInt64(1), 2, 3])
        func damageCostsOnlyWhatItHit(_ seed: UInt64) throws {
            var chance = SeededRandom(seed: seed)
            var bytes = try ToneFiles.bytes(
                "a.mp3", ["-b:a", "320k"] + Self.withoutHeader, seconds: 10, channelCount: 2)
            for place in stride(from: 40_000, to: bytes.count - 700, by: 50_000) {
                for index in place..<place + 700 { bytes[index] = UInt8(truncatingIfNeeded: chance.next()) }
            }
            try Self.expectWhole(bytes, seconds: 9.7...10.1, "random bytes")
            var silent = try ToneFiles.bytes(
                "a.mp3", ["-b:a", "128k"] + Self.withoutHeader, seconds: 16, channelCount: 2)
            for index in 80_000..<180_000 { silent[index] = 0 }
            try Self.expectWhole(silent, seconds: 9.7...9.9, hasHole: true, "zeros")
        }
    }
#endif
