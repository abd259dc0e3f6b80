import TenfourSeededRandom

#if FFmpeg
    import TenfourAudioCore
    import TenfourMediaSource
    import TestSupport
    import Testing

    /// Files that were joined end to end are heard whole, also where the rate, the channels or the codec change.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct JoinedFilesTests {
        private struct Part {
            var hertz: Int
            var rate: Int
            var channelCount: Int
            var seconds: Double
            var bytes: [UInt8]
        }

        private static func part(
            _ index: Int, _ name: String, _ options: [String], _ rates: [Int], _ chance: inout SeededRandom
        ) throws -> Part {
            let (hertz, rate) = (400 + 170 * index, rates[chance.below(rates.count)])
            let (count, seconds) = (1 + chance.below(2), Double(1 + chance.below(3)))
            let bytes = try ToneFiles.bytes(
                name, options, hertz: hertz, seconds: seconds, rate: rate, channelCount: count)
            return Part(hertz: hertz, rate: rate, channelCount: count, seconds: seconds, bytes: bytes)
        }

        private static func check(_ parts: [Part], _ heard: [Float], _ comment: Comment) {
            let seconds = parts.reduce(0) { $0 + $1.seconds }
            let length = Double(heard.count) / 48_000
            #expect(abs(length - seconds) < 0.12 * Double(parts.count), "\(comment): \(length) s instead of \(seconds)")
            // Encoder delays and headers move the parts by less than 0.1 s each.
            var begin = 0.0
            for part in parts {
                let found = ToneFiles.frequency(heard, around: begin + part.seconds / 2 + 0.1)
                #expect(abs(found - Double(part.hertz)) < 2, "\(comment): \(found) Hz instead of \(part.hertz)")
                begin += part.seconds
            }
        }

        /// A tag of random bytes, as it lies between files: ID3v2 with a picture, ID3v1 or APEv2; often none.
        private static func tag(_ chance: inout SeededRandom) -> [UInt8] {
            let noise = (0..<20_000).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            switch chance.below(5) {
            case 0: return Array("ID3".utf8) + [4, 0, 0, 0, 1, 28, 32] + noise
            case 1: return Array("TAG".utf8) + noise.prefix(125)
            case 2:
                let size = (0..<4).map { UInt8(truncatingIfNeeded: (noise.count + 32) >> (8 * $0)) }
                let rest: [UInt8] = [208, 7, 0, 0] + size + [1, 0, 0, 0]
                let head = Array("APETAGEX".utf8) + rest + [0, 0, 0, 0xA0] + [UInt8](repeating: 0, count: 8)
                let foot = Array("APETAGEX".utf8) + rest + [0, 0, 0, 0x80] + [UInt8](repeating: 0, count: 8)
                return head + noise + foot
            default: return []
            }
        }

        @Test(arguments: ["mp3", "aac", "ac3"], [UInt64(1), 2, 3])
        func eachFrameOfJoinedFilesIsHeard(_ ending: String, _ seed: UInt64) throws {
            var chance = SeededRandom(seed: seed)
            let rates = ["mp3": [44_100, 24_000, 48_000, 22_050, 32_000], "aac": [44_100, 22_050, 48_000]]
            var parts: [Part] = []
            var bytes: [UInt8] = []
            for index in 0..<2 + chance.below(3) {
                let part = try Self.part(index, "a.\(ending)", [], rates[ending] ?? [48_000, 44_100], &chance)
                parts.append(part)
                bytes += part.bytes + Self.tag(&chance)
            }
            Self.check(parts, try ToneFiles.heard(bytes), "seekable")
            Self.check(parts, try ToneFiles.heard(bytes, isSeekable: false), "in order")

            // Positions are those of what is heard.
            let reader = try openReader(StoredBytes(bytes), format: .mono)
            let begin = parts.dropLast().reduce(0) { $0 + $1.seconds }
            let last = parts[parts.count - 1]
            _ = try reader.seek(to: .milliseconds(Int((begin + last.seconds / 2) * 1_000)))
            let found = ToneFiles.frequency(try reader.readSome(9_600), around: 0.1)
            #expect(abs(found - Double(last.hertz)) < 2, "\(found) Hz instead of \(last.hertz)")
        }

        @Test(arguments: [UInt64(1), 2, 3, 4, 5])
        func eachLinkOfAnOggChainIsHeard(_ seed: UInt64) throws {
            var chance = SeededRandom(seed: seed)
            let codecs = ["libvorbis", "libopus", "flac", "libvorbis"]
            var parts: [Part] = []
            for index in 0..<2 + chance.below(4) {
                let codec = codecs[chance.below(codecs.count)]
                let options = ["-c:a", codec, "-f", "ogg", "-serial_offset", "\(index + 1)"]
                let rates = codec == "libopus" ? [48_000, 24_000] : [44_100, 48_000, 22_050]
                parts.append(try Self.part(index, "a.ogg", options, rates, &chance))
            }
            let bytes = parts.flatMap(\.bytes)
            Self.check(parts, try ToneFiles.heard(bytes), "seekable")
            let reader = try openReader(StoredBytes(bytes), format: .mono)
            let seconds = parts.reduce(0) { $0 + $1.seconds }
            let duration = try #require(reader.demuxer.duration)
            #expect(duration.isExact && abs(duration.value.inSeconds - seconds) < 0.1, "\(duration)")
            for _ in 0..<8 {
                let number = chance.below(parts.count)
                let begin = parts[..<number].reduce(0) { $0 + $1.seconds }
                _ = try reader.seek(to: .milliseconds(Int((begin + parts[number].seconds / 2) * 1_000)))
                #expect(abs(reader.position.value.inSeconds - begin - parts[number].seconds / 2) < 0.01)
                let found = ToneFiles.frequency(try reader.readSome(9_600), around: 0.1)
                #expect(abs(found - Double(parts[number].hertz)) < 2, "\(found) Hz in part \(number)")
            }
        }

        /// From a pipe, where nothing tells of the next link before it arrives.
        @Test(arguments: [UInt64(1), 2])
        func eachLinkOfAPipedChainIsHeard(_ seed: UInt64) throws {
            var chance = SeededRandom(seed: seed)
            let parts = try (0..<3).map { index in
                let codec = index == 0 ? "libvorbis" : ["libvorbis", "libopus"][chance.below(2)]
                let options = ["-c:a", codec, "-f", "ogg", "-serial_offset", "\(index + 1)"]
                return try Self.part(index, "a.ogg", options, [48_000], &chance)
            }
            Self.check(parts, try ToneFiles.heard(parts.flatMap(\.bytes), isSeekable: false), "in order")
        }

        /// The first link comes again at the end, as a jingle does.
        @Test func aChainThatEndsWithTheStreamOfItsBeginningIsHeard() throws {
            var chance = SeededRandom(seed: 1)
            let parts = try [1, 2, 1].enumerated().map { index, serial in
                let options = ["-c:a", "libvorbis", "-f", "ogg", "-serial_offset", "\(serial)"]
                return try Self.part(index, "a.ogg", options, [44_100, 48_000], &chance)
            }
            Self.check(parts, try ToneFiles.heard(parts.flatMap(\.bytes)), "a jingle")
        }

        /// Overwrites the packets of these pages, which keep their lengths and have the correct checksum.
        private static func damage(_ bytes: inout [UInt8], pages: Range<Int>) {
            var place = 0
            var number = 0
            while place + 27 <= bytes.count {
                let begin = place + 27 + Int(bytes[place + 26])
                let end = bytes[place + 27..<begin].reduce(begin) { $0 + Int($1) }
                if pages.contains(number) { for index in begin..<end { bytes[index] = 0xFF } }
                (place, number) = (end, number + 1)
            }
            bytes = repairedOgg(bytes)
        }

        /// The second of three links is damaged: its headers, or its audio after the first second. Each page of audio holds
        /// a second, behind two pages of headers.
        @Test(arguments: [(true, true), (true, false), (false, true)])
        func aDamagedLinkIsReportedAfterTheOthers(_ hasHeaders: Bool, _ isSeekable: Bool) throws {
            var parts = try (0..<3).map { index in
                try ToneFiles.bytes(
                    "a.ogg", ["-c:a", "libvorbis", "-f", "ogg", "-serial_offset", "\(index + 1)"],
                    hertz: 400 + 170 * index, seconds: 3)
            }
            Self.damage(&parts[1], pages: hasHeaders ? 3..<100 : 1..<2)
            let source = StoredBytes(parts.flatMap { $0 }, knowsLength: isSeekable, isSeekable: isSeekable)
            let reader = try openReader(source, format: .mono)
            var heard: [Float] = []
            let error = #expect(throws: ReaderError.self) {
                while case let piece = try reader.readSome(4_800), !piece.isEmpty { heard += piece }
            }
            let text = "\(try #require(error))"
            #expect(text.contains("the Ogg stream that begins at 3.0 s: "), "\(text)")
            if hasHeaders { #expect(text.contains(" about 2.0 s from 1.0 s on are missing"), "\(text)") }
            let length = Double(heard.count) / 48_000
            #expect(abs(length - (hasHeaders ? 7 : 6)) < 0.15, "\(length) s")
            #expect(abs(ToneFiles.frequency(heard, around: 1.5) - 400) < 2)
            #expect(abs(ToneFiles.frequency(heard, around: length - 1.5) - 740) < 2)
            #expect(try reader.readSome(4_800).isEmpty)
            guard isSeekable else { return }
            let duration = try #require(reader.demuxer.duration)
            _ = try reader.seek(to: duration.value - .seconds(1.5))
            let found = ToneFiles.frequency(try reader.readSome(9_600), around: 0.1)
            #expect(abs(found - 740) < 2, "\(found) Hz")
        }

        @Test func anOggFileThatCannotBeSeekedHasAnEstimatedLength() throws {
            var chance = SeededRandom(seed: 1)
            let part = try Self.part(0, "a.ogg", ["-c:a", "libvorbis", "-f", "ogg"], [48_000], &chance)
            let reader = try openReader(StoredBytes(part.bytes, isSeekable: false), format: .mono)
            let duration = try #require(reader.demuxer.duration)
            #expect(!duration.isExact && duration.value > .zero, "\(duration)")
        }

        /// The description of the first part does not fit the second, which nobody can decode.
        @Test func whatCannotBeDecodedIsReportedAfterTheRest() throws {
            let folder = Folder()
            for (number, rate) in [44_100, 22_050].enumerated() {
                folder.write(
                    try ToneFiles.bytes(
                        "a.m4a", ["-c:a", "aac"], hertz: 440 * (number + 1), seconds: 4, rate: rate,
                        channelCount: 2 - number), to: "\(number).m4a")
            }
            folder.write("file 0.m4a\nfile 1.m4a\n", to: "list.txt")
            try Files.run(
                "ffmpeg", ["-v", "error", "-f", "concat", "-i", folder("list.txt"), "-c", "copy", folder("both.m4a")])
            let reader = try openReader(StoredBytes(Folder.bytes(of: folder("both.m4a"))), format: .mono)
            var heard: [Float] = []
            let error = #expect(throws: ReaderError.self) {
                while case let piece = try reader.readSome(4_800), !piece.isEmpty { heard += piece }
            }
            #expect("\(try #require(error))".contains(" are missing, since the file is damaged"), "\(error!)")
            #expect(heard.count > Int(3.8 * 48_000), "\(heard.count)")
            #expect(abs(ToneFiles.frequency(heard, around: 2) - 440) < 2)
        }
    }
#endif
