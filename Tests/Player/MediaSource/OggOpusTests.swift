import Foundation
import TenfourAudioCore
import TenfourMediaSource
import TenfourNetworkEmulator
import TenfourSeededRandom
import TestSupport
import Testing

@Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct OggOpusTests {
    private static let folder: Folder = {
        let folder = Folder()
        folder.write(CodedAudio(seconds: 20).wav, to: "sound.wav")
        func make(_ options: [String], _ name: String) {
            _ = try? Program.run(
                "ffmpeg", ["-v", "error", "-y", "-i", folder("sound.wav")] + options + [folder(name)],
                for: .seconds(120))
        }
        let opus = ["-c:a", "libopus", "-b:a", "48k"]
        make(
            opus + ["-metadata", "title=One\u{7}", "-metadata", "artist=Somebody", "-metadata", "album=Record"],
            "one.opus")
        make(opus + ["-t", "7", "-metadata", "title=Two", "-af", "pan=mono|c0=c0"], "two.opus")
        make(
            ["-map", "0", "-map", "0", "-c:a:0", "libvorbis", "-c:a:1", "libopus", "-b:a:1", "48k", "-f", "ogg"],
            "both.ogg")
        make(["-c:a", "libopus", "-b:a", "128k", "-ac", "6", "-t", "1"], "six.opus")
        make(["-c:a", "libopus", "-t", "0.013"], "short.opus")
        return folder
    }()
    private static func bytes(_ name: String) -> [UInt8] { Folder.bytes(of: folder(name)) }
    private static let count = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 10 : 200

    @Test func itPlaysFromTheFirstSampleToTheLast() throws {
        let reader = try openReader(StoredBytes(Self.bytes("one.opus")), format: .stereo)
        #expect(
            reader.demuxer.track
                == Track(
                    codec: "opus", format: .stereo, title: "One\u{FFFD}", artist: "Somebody", album: "Record"))
        #expect(reader.demuxer.duration == Estimate(.seconds(20), isExact: true))
        let heard = try reader.readAll()
        #expect(heard.count == 2 * 20 * 48_000)
        #expect(reader.position == Estimate(.seconds(20), isExact: true))
        for second in [0, 5, 19] {
            let piece = Array(heard[second * 96_000..<second * 96_000 + 16_384])
            let found = try #require(CodedAudio.seconds(of: piece, channelCount: 2, rate: 48_000))
            #expect(abs(found - Double(second)) < 0.02)
        }
        #expect(abs((reader.demuxer.bitRate ?? 0) - 48_000) < 20_000)
    }

    @Test func aSeekIsRightToTheSample() throws {
        let whole = try openReader(StoredBytes(Self.bytes("one.opus")), format: .stereo).readAll()
        let reader = try openReader(StoredBytes(Self.bytes("one.opus")), format: .stereo)
        var chance = SeededRandom(seed: 3)
        for _ in 0..<Self.count {
            let frame = chance.below(19 * 48_000)
            let position = FrameCount(frame).duration()
            #expect(try reader.seek(to: position) == Estimate(position, isExact: true))
            let heard = try reader.readSome(4_800)
            // After a seek, the decoder starts early enough to converge to the continuously decoded audio.
            var (difference, loudness) = (Float(0), Float(0))
            for index in heard.indices {
                difference += (heard[index] - whole[2 * frame + index]) * (heard[index] - whole[2 * frame + index])
                loudness += heard[index] * heard[index]
            }
            #expect(difference < loudness / 1_000)
            #expect(reader.position.value == FrameCount(frame + 4_800).duration())
        }
        _ = try reader.seek(to: .seconds(60))
        #expect(try reader.readSome(100).isEmpty)
        _ = try reader.seek(to: .zero)
        #expect(try reader.readAll() == whole)
    }

    /// A radio station sends one song after another as a chain of Ogg streams.
    @Test func aChainOfStreamsPlaysOnAndOn() throws {
        let chain = Self.bytes("one.opus") + Self.bytes("two.opus")
        let reader = try openReader(StoredBytes(chain, knowsLength: false, isSeekable: false), format: .stereo)
        _ = try reader.readSome(19 * 48_000)
        #expect(reader.demuxer.track.title == "One\u{FFFD}")
        let rest = try reader.readAll()
        #expect(reader.demuxer.track.title == "Two")
        #expect(rest.count / 2 == 8 * 48_000)
        #expect(reader.position.value == .seconds(27))

        let seekable = try openReader(StoredBytes(chain), format: .stereo)
        #expect(seekable.demuxer.duration == Estimate(.seconds(27), isExact: true))
        #expect(try seekable.seek(to: .seconds(24)) == Estimate(.seconds(24), isExact: true))
        let heard = try seekable.readSome(8_192)
        #expect(abs(try #require(CodedAudio.seconds(of: heard, channelCount: 2, rate: 48_000)) - 4) < 0.02)
        #expect(try seekable.seek(to: .seconds(3)) == Estimate(.seconds(3), isExact: true))
        let again = try seekable.readSome(8_192)
        #expect(abs(try #require(CodedAudio.seconds(of: again, channelCount: 2, rate: 48_000)) - 3) < 0.02)
    }

    @Test func besideAnotherStreamItIsFound() throws {
        // The first page belongs to the other stream, so the file is not recognised as Opus and FFmpeg would read it.
        let bytes = Self.bytes("both.ogg")
        let container = ContainerFormat(sniffing: bytes.span.extracting(first: 512))
        #expect(container == .ogg)
    }

    #if !FFmpeg
        @Test func moreThanTwoChannelsAreRefusedWithAClearError() {
            #expect(throws: ReaderError.self) { try openReader(StoredBytes(Self.bytes("six.opus")), format: .stereo) }
        }
    #endif

    @Test func aPacketOfSoundIsEnough() throws {
        let heard = try openReader(StoredBytes(Self.bytes("short.opus")), format: .mono).readAll()
        #expect(abs(heard.count - 624) <= 1)
    }

    @Test func gainIsApplied() throws {
        var bytes = Self.bytes("one.opus")
        let plain = try openReader(StoredBytes(bytes), format: .mono).readSome(48_000)
        // Sets an output gain of 6.02 dB in the header and corrects the checksum of the page.
        let head = try #require(bytes.firstRange(of: Array("OpusHead".utf8))).lowerBound
        (bytes[head + 16], bytes[head + 17]) = (0x05, 0x06)
        let sum = Self.checksum(Array(bytes[0..<head + 19]))
        for index in 0..<4 { bytes[22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index))) }
        let louder = try openReader(StoredBytes(bytes), format: .mono).readSome(48_000)
        #expect(louder.count == plain.count)
        for index in plain.indices { #expect(abs(louder[index] - 2 * plain[index]) < 0.001) }
    }

    private static func checksum(_ page: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0
        for (index, byte) in page.enumerated() {
            sum ^= UInt32(22..<26 ~= index ? 0 : byte) << 24
            for _ in 0..<8 { sum = sum & 1 << 31 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
        }
        return sum
    }

    @Test func aDamagedPageIsAGapAndPositionsStayRight() throws {
        var bytes = Self.bytes("one.opus")
        let middle = bytes.count / 2
        for index in middle..<middle + 50 { bytes[index] ^= 0x55 }
        let reader = try openReader(StoredBytes(bytes), format: .stereo)
        let (heard, error) = reader.readToError()
        #expect(heard.count < 2 * 20 * 48_000 && heard.count > 2 * 17 * 48_000)
        #expect(error.map { "\($0)" }?.hasPrefix("about 1.0 s from 10.0 s on are missing") == true, "\(error as Any)")
        #expect(reader.position.value == .seconds(20))
    }

    @Test func damagedFilesNeitherTrapNorHang() {
        let whole = Self.bytes("one.opus")
        for round in 0..<Self.count * 5 {
            var chance = SeededRandom(seed: UInt64(round))
            var bytes = Array(whole.prefix(chance.below(2) == 0 ? 60_000 : chance.below(3_000)))
            if !bytes.isEmpty {
                for _ in 0..<1 << chance.below(8) {
                    bytes[chance.below(min(bytes.count, round % 2 == 0 ? 1 << 20 : 600))] = UInt8(
                        truncatingIfNeeded: chance.next())
                }
            }
            do throws(ReaderError) {
                let reader = try openReader(StoredBytes(bytes), format: .mono)
                #expect(try reader.readAll(limit: 100 * 48_000).count < 100 * 48_000)
                _ = try reader.seek(to: .seconds(chance.below(20)))
                _ = try reader.readSome(1_000)
            } catch { #expect(!"\(error)".isEmpty) }
        }
    }
}
