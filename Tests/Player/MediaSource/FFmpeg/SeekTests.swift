import TenfourSeededRandom

#if FFmpeg
    import TenfourNetworkEmulator
    import TenfourMediaSource
    import Foundation
    import TenfourAudioCore
    import TestSupport
    import Testing

    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct SeekTests {
        private static let format = LPCMFormat(rate: SampleRate(hertz: CodedAudio.rate), channelCount: 2)
        private static let count = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 12 : 200

        private static func heardSecond(_ reader: any MediaReader) throws -> Double? {
            let heard = try reader.readSome(4_096)
            return CodedAudio.seconds(of: heard, channelCount: 2, rate: CodedAudio.rate)
        }

        @Test(arguments: Making.allCases)
        func wherePlacesAreKnownASeekIsRightToTheSample(_ making: Making) throws {
            // All bytes are available, so the reader scans the file for unknown positions.
            let reader = try openReader(StoredBytes(making.bytes), format: Self.format)
            let whole = try openReader(StoredBytes(making.bytes), format: Self.format).readAll()
            var chance = SeededRandom(seed: 5)
            var worst: (sample: Float, second: Double) = (0, 0)
            for _ in 0..<Self.count {
                let frame = chance.below(29 * CodedAudio.rate)
                let position = FrameCount(frame).duration(at: Self.format.rate)
                let landed = try reader.seek(to: position)
                #expect(landed.isExact && abs((landed.value - position).inSeconds) < 0.0001)
                if frame % 3 == 0 {
                    let second = try #require(try Self.heardSecond(reader))
                    worst.second = max(worst.second, abs(second - position.inSeconds))
                } else {
                    let heard = try reader.readSome(2_000)
                    #expect(heard.count == 4_000)
                    // At half the rate, every other frame lies between two samples of the file. AC-3 fills bands without
                    // bits with noise, which differs each time.
                    for index in heard.indices where ![.mp3Low, .ac3, .eac3].contains(making) {
                        worst.sample = max(worst.sample, abs(heard[index] - whole[2 * frame + index]))
                    }
                }
                let heardFrames = frame % 3 == 0 ? 4_096.0 : 2_000.0
                let moved = (reader.position.value - position).inSeconds
                #expect(abs(moved - heardFrames / Double(CodedAudio.rate)) < 0.0001)
            }
            #expect(worst.second < 0.05)
            #expect(worst.sample < 0.001)
        }

        @Test(arguments: [Making.mp3Variable, .mp3VariableWithoutTag, .aacADTS])
        func wherePlacesAreNotKnownASeekIsAGuessWithinTwoHundredths(_ making: Making) throws {
            var chance = SeededRandom(seed: 6)
            var worst = 0.0
            for _ in 0..<Self.count {
                // Uses a new reader each time, so that nothing is known from earlier scans.
                let reader = try openReader(StoredBytes(making.bytes, isHere: false), format: Self.format)
                let position = Duration.milliseconds(10_000 + chance.below(19_000))
                let landed = try reader.seek(to: position)
                #expect(!landed.isExact && !reader.position.isExact)
                let second = try #require(try Self.heardSecond(reader))
                worst = max(worst, abs(second - landed.value.inSeconds))
                #expect(abs((landed.value - position).inSeconds) < 0.6)
            }
            #expect(worst < 0.6)
        }

        @Test(arguments: [Making.mp3Variable, .mp3VariableWithoutTag, .aacADTS])
        func aGuessIsPutRightOnceAScanHasGotThere(_ making: Making) throws {
            let reader = try openReader(StoredBytes(making.bytes, isHere: false), format: Self.format)
            _ = try reader.seek(to: .seconds(25))
            #expect(!reader.position.isExact)
            _ = try reader.readSome(8_192)
            while try !reader.demuxer.scan(for: .milliseconds(2)) {}
            #expect(reader.position.isExact)
            #expect(reader.demuxer.duration?.isExact == true)
            let shown = reader.position.value.inSeconds
            let second = try #require(try Self.heardSecond(reader))
            // An encoder delay that the file does not state causes an error of 26 ms.
            #expect(abs(second - shown) < 0.05)
            // From here on all positions are exact.
            #expect(try reader.seek(to: .seconds(11)) == Estimate(.seconds(11), isExact: true))
        }

        @Test(arguments: [Making.mp3VariableWithoutTag, .aacADTS])
        func playedPositionsAreKnown(_ making: Making) throws {
            let reader = try openReader(StoredBytes(making.bytes, isHere: false), format: Self.format)
            _ = try reader.readSome(20 * CodedAudio.rate)
            #expect(try reader.seek(to: .seconds(7)) == Estimate(.seconds(7), isExact: true))
            #expect(abs(try #require(try Self.heardSecond(reader)) - 7) < 0.05)
        }

        @Test(arguments: Making.allCases)
        func aSeekBehindTheEndIsTheEndAndOneBeforeTheBeginningIsThat(_ making: Making) throws {
            let reader = try openReader(StoredBytes(making.bytes), format: Self.format)
            _ = try reader.seek(to: .seconds(100))
            #expect(try reader.readSome(100).isEmpty)
            _ = try reader.seek(to: .seconds(-5))
            #expect(reader.position.value == .zero)
            #expect(try reader.readAll().count / 2 > 29 * CodedAudio.rate)
            _ = try reader.seek(to: .seconds(29))
            #expect(try reader.readAll().count / 2 >= CodedAudio.rate - 100)
        }
    }
#endif
