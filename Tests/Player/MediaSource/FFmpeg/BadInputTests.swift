import TenfourSeededRandom

#if FFmpeg
    import TenfourNetworkEmulator
    import TenfourMediaSource
    import Foundation
    import TenfourAudioCore
    import TestSupport
    import Testing

    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct BadInputTests {
        private static let format = LPCMFormat.stereo
        private static let rounds = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 2 : 200

        private static func open(_ bytes: [UInt8]) throws(ReaderError) -> any MediaReader {
            try openReader(StoredBytes(bytes), format: format)
        }

        @Test(arguments: [
            ("", "this is empty"), ("<!DOCTYPE html><html>log in</html>", "web page"),
            ("  <HTML><body>no", "web page"),
            ("#EXTM3U\nhttp://host/a.mp3\n", "playlist"),
            ("ffconcat version 1.0\nfile /etc/passwd\n", "not a known audio format"),
        ])
        func aFileWithoutAudioGetsAClearError(_ text: String, _ sentence: String) {
            do {
                _ = try Self.open(Array(text.utf8))
                Issue.record("opened without an error")
            } catch { #expect("\(error)".contains(sentence)) }
        }

        @Test(arguments: [
            ("", MediaErrorKind.notAudio), ("<html>", .notAudio), ("#EXTM3U\n", .notAudio),
            ("some words", .unknownFormat), (" ", .unknownFormat),
        ])
        func onlyBytesOfNoFormatMayBeRawSamples(_ text: String, _ kind: MediaErrorKind) {
            let error = #expect(throws: ReaderError.self) { try Self.open(Array(text.utf8)) }
            #expect(error?.kind == kind)
        }

        /// FFmpeg opens a header of version 7 as such, and refuses it as one of version 8.
        @Test func theEndingOfMusepackStandsForBothVersions() throws {
            let bytes = Array("MP+\u{7}".utf8) + [UInt8](repeating: 0, count: 1_000)
            _ = try openReader(StoredBytes(bytes), format: nil, as: ContainerFormat(named: "mpc"))
        }

        @Test func chanceIsNoSound() {
            var chance = SeededRandom(seed: 1)
            for _ in 0..<Self.rounds {
                let bytes = (0..<200_000).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
                #expect(throws: ReaderError.self) { try Self.open(bytes) }
            }
        }

        @Test(arguments: Making.allCases)
        func aTruncatedFilePlaysToItsEnd(_ making: Making) throws {
            let bytes = try making.bytes
            let half = Array(bytes.prefix(bytes.count / 2))
            guard making != .m4aLast, making != .alac else {
                #expect(throws: ReaderError.self) { try Self.open(half) }
                return
            }
            let heard = try Self.open(half).readToError().samples.count / 2
            #expect(heard > 10 * 48_000 && heard < 22 * 48_000)
        }

        @Test(arguments: Making.allCases)
        func aFewBytesOfAFileEndSomehow(_ making: Making) throws {
            let bytes = try making.bytes
            var chance = SeededRandom(seed: 2)
            for _ in 0..<Self.rounds {
                let count = chance.below(chance.below(2) == 0 ? 100 : 20_000)
                if let reader = try? Self.open(Array(bytes.prefix(count))) { _ = try? reader.readAll() }
            }
        }

        /// Damaged files never trap or play forever: they give audio of about the right length, or an error.
        @Test(arguments: Making.allCases)
        func damagedFilesPlayWhatTheyCan(_ making: Making) throws {
            let whole = Array(try making.bytes.prefix(300_000))
            for round in 0..<Self.rounds {
                var chance = SeededRandom(seed: UInt64(round))
                var bytes = whole
                // In every other round only the head is damaged, which describes the rest of the file.
                let reach = round % 2 == 0 ? bytes.count : 4_096
                for _ in 0..<1 << chance.below(9) {
                    bytes[chance.below(reach)] = UInt8(truncatingIfNeeded: chance.next())
                }
                do throws(ReaderError) {
                    let reader = try Self.open(bytes)
                    #expect(try reader.readAll(limit: 400 * 96_000).count < 400 * 96_000)
                    _ = try reader.seek(to: .seconds(chance.below(40)))
                    _ = try reader.readSome(2_000)
                    _ = try? reader.demuxer.scan(for: .milliseconds(1))
                } catch { #expect(!"\(error)".isEmpty) }
            }
        }

        /// Behind the samples, or around them: ffmpeg leaves an empty box before them, where a long size has room.
        @Test func aBoxOf2To60BytesIsNotReserved() throws {
            let whole = try Making.m4aFirst.bytes
            let count = try Self.open(whole).readAll().count
            let size: [UInt8] = [0, 0, 0, 1]
            let long: [UInt8] = [0x10, 0, 0, 0, 0, 0, 0, 0]
            let more = whole + size + Array("free".utf8) + long
            #expect(try Self.open(more).readAll().count == count)
            let place = try #require(whole.firstRange(of: Array("mdat".utf8))).lowerBound
            try #require(whole[..<(place - 4)].suffix(4).elementsEqual("free".utf8))
            var samples = whole
            samples.replaceSubrange(place - 12..<place + 4, with: size + Array("mdat".utf8) + long)
            do throws(ReaderError) {
                #expect(try Self.open(samples).readAll().count == count)
            } catch { #expect(!"\(error)".isEmpty) }
        }

        @Test func onlyDamageIsAnErrorAndNotSilence() throws {
            var bytes = try Making.m4aFirst.bytes
            let begin = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
            for index in begin..<bytes.count { bytes[index] = 0xFF }
            #expect(throws: ReaderError.self) { try Self.open(bytes).readAll() }
        }

        /// An overwritten frame causes a gap of one frame, no more.
        @Test func aGapInAnMP3IsHeardOverAndTheRestIsRight() throws {
            var bytes = try Making.mp3ConstantWithoutTag.bytes
            let middle = bytes.count / 2
            for index in middle..<middle + 3_000 { bytes[index] = 0 }
            let heard = try Self.open(bytes).readAll().count / 2
            #expect(abs(Double(heard) / 48_000 - 30) < 0.4)
        }
    }
#endif
