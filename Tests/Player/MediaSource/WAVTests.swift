import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourSeededRandom
import TestSupport
import Testing

@testable import TenfourMediaSource

@Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct WAVTests {
    private static let sound = CodedAudio(seconds: 4)

    private static func made(_ options: [String], _ name: String = "a.wav", toPipe: Bool = false) throws -> [UInt8] {
        let folder = Folder()
        folder.write(sound.wav, to: "sound.wav")
        let arguments = ["-v", "error", "-y", "-i", folder("sound.wav")] + options
        if toPipe {
            let program = try Program("ffmpeg", arguments + ["-f", "wav", "-"])
            #expect(program.wait() == .code(0))
            return program.output
        }
        let result = try Program.run("ffmpeg", arguments + [folder(name)])
        #expect(result.end == .code(0))
        return Folder.bytes(of: folder(name))
    }

    @Test(arguments: ["pcm_u8", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le"])
    func everyWidthGivesTheSameSound(_ coding: String) throws {
        let format = LPCMFormat(rate: SampleRate(hertz: CodedAudio.rate), channelCount: 2)
        let plain = try openReader(StoredBytes(Self.sound.wav), format: format).readAll()
        let reader = try openReader(StoredBytes(try Self.made(["-c:a", coding])), format: format)
        #expect(reader.demuxer.duration == Estimate(.seconds(4), isExact: true))
        let heard = try reader.readAll()
        #expect(heard.count == plain.count)
        let worst = zip(heard, plain).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
        #expect(worst < (coding == "pcm_u8" ? 0.02 : 0.00001))
        #expect(try reader.seek(to: .seconds(3)) == Estimate(.seconds(3), isExact: true))
        #expect(try reader.readAll() == Array(heard[(2 * 3 * CodedAudio.rate)...]))
    }

    @Test(arguments: ["RF64", "BW64"]) func longFilesHaveALongHead(_ name: String) throws {
        var bytes = try Self.made(["-rf64", "always"])
        #expect(bytes.starts(with: Array("RF64".utf8)))
        bytes.replaceSubrange(0..<4, with: name.utf8)
        let reader = try openReader(StoredBytes(bytes), format: .stereo)
        #expect(reader is PacketReader && reader.demuxer is WAVDemuxer)
        #expect(try reader.readAll().count == 2 * 4 * 48_000)
        bytes.removeLast(bytes.count / 4)
        let (heard, error) = try openReader(StoredBytes(bytes), format: .stereo).readToError()
        #expect(abs(heard.count - 2 * 3 * 48_000) < 100)
        let text = error.map { "\($0)" } ?? "nothing"
        #expect(text.contains("the end from 3.0 s on (of 4.0 s) is missing"), "\(text)")
    }

    @Test(arguments: [true, false]) func samplesOf2To60BytesAreThoseThatAreThere(knowsLength: Bool) throws {
        var bytes = try Self.made(["-rf64", "always"])
        let place = try #require(bytes.firstRange(of: Array("ds64".utf8))).upperBound + 4
        // The sizes of the file and of the samples, then the number of frames.
        for index in 0..<24 { bytes[place + index] = index % 8 == 7 ? 0x10 : 0 }
        let source = StoredBytes(bytes, knowsLength: knowsLength, isSeekable: knowsLength)
        let reader = try openReader(source, format: .stereo)
        if knowsLength { #expect(reader.demuxer.duration == Estimate(.seconds(4), isExact: true)) }
        let (heard, error) = reader.readToError()
        #expect(heard.count == 2 * 4 * 48_000)
        #expect(error.map { "\($0)".contains("the end from 4.0 s on (of") } ?? false == knowsLength)
        #expect(reader.demuxer.duration == Estimate(.seconds(4), isExact: true))
    }

    /// A header of RF64 that states the largest number of bytes.
    @Test func anyStatedSizeIsCompared() throws {
        var bytes = try Self.made(["-rf64", "always"])
        let place = try #require(bytes.firstRange(of: Array("ds64".utf8))).upperBound + 4
        for index in 0..<24 { bytes[place + index] = index % 8 == 7 ? 0x7F : 0xFF }
        var window = ByteWindow(of: StoredBytes(bytes))
        let wav = try WAVStream(&window)
        for (end, byteCount) in [(4, try #require(wav.byteCount(in: window.byteSource))), (1 << 35, 1)] {
            var missing = MissingAudio()
            try wav.findEnd(&window, at: .seconds(end), after: byteCount, in: &missing)
            let text = missing.text ?? "nothing"
            #expect(text.contains("the end from \(end).0 s on (of 1000000000000.0 s) is missing"), "\(text)")
        }
    }

    /// A program appends to the file, and its header states a second.
    @Test func aGrowingFileIsHeardToItsEndWhateverItsHeaderStates() throws {
        var bytes = try Self.made(["-ar", "48000", "-ac", "1"])
        let place = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound
        for (index, byte) in [0x00, 0x77, 0x01, 0x00].enumerated() { bytes[place + index] = UInt8(byte) }
        let folder = Folder()
        folder.write(Array(bytes.prefix(bytes.count / 2)), to: "a.wav")
        let reader = try openReader(FileByteSource.open(folder("a.wav")), format: .mono)
        let first = try reader.readSome(4_800).count
        folder.write(bytes, to: "a.wav")
        #expect(try first + reader.readAll().count == 4 * 48_000)
        // A file that does not grow has what its header states; the rest is named.
        let (heard, error) = try openReader(FileByteSource.open(folder("a.wav")), format: .mono).readToError()
        #expect(heard.count == 48_000 && error?.kind == .damaged)
    }

    @Test func aWAVFileFromAPipeHasNoLengthAndPlays() throws {
        let bytes = try Self.made([], toPipe: true)
        let reader = try openReader(StoredBytes(bytes, knowsLength: false, isSeekable: false), format: .stereo)
        #expect(reader.demuxer.duration == nil)
        #expect(try reader.readAll().count == 2 * 4 * 48_000)
        #expect(reader.demuxer.duration == Estimate(.seconds(4), isExact: true))
        #expect(try openReader(StoredBytes(bytes), format: .stereo).demuxer.duration?.value == .seconds(4))
    }

    @Test(arguments: [8_000, 22_050, 44_100, 48_000, 96_000])
    func anyRateComesOutAsLongAndInPlace(_ rate: Int) throws {
        let format = LPCMFormat(rate: SampleRate(hertz: rate), channelCount: 2)
        let reader = try openReader(StoredBytes(Self.sound.wav), format: format)
        let heard = try reader.readAll()
        #expect(heard.count == 2 * 4 * rate)
        let piece = Array(heard[2 * rate..<2 * rate + rate / 2])
        #expect(abs(try #require(CodedAudio.seconds(of: piece, channelCount: 2, rate: rate)) - 1) < 0.02)
    }

    @Test func oneChannelBecomesTwoAndTwoBecomeOne() throws {
        let mono = try Self.made(["-ac", "1"])
        let heard = try openReader(StoredBytes(mono), format: .stereo).readSome(10_000)
        #expect(stride(from: 0, to: heard.count, by: 2).allSatisfy { heard[$0] == heard[$0 + 1] })
        let both = try openReader(
            StoredBytes(Self.sound.wav), format: LPCMFormat(rate: SampleRate(hertz: 44_100), channelCount: 2)
        )
        .readSome(1_000)
        let one = try openReader(
            StoredBytes(Self.sound.wav), format: LPCMFormat(rate: SampleRate(hertz: 44_100), channelCount: 1)
        )
        .readSome(1_000)
        for index in one.indices { #expect(abs(one[index] - (both[2 * index] + both[2 * index + 1]) / 2) < 1e-6) }
    }

    @Test func unsupportedFormatsGetAClearError() throws {
        #expect(throws: ReaderError.self) {
            try WAVDemuxer(ByteWindow(of: StoredBytes(try Self.made(["-c:a", "adpcm_ms"]))))
        }
        #expect(throws: ReaderError.self) {
            try openReader(StoredBytes(Array("ID3\u{4}\0\0\0\0\0\0".utf8)), format: .stereo)
        }
        #expect(throws: ReaderError.self) { try openReader(StoredBytes([]), format: .stereo) }
    }

    @Test func damagedFilesNeitherTrapNorHang() {
        let whole = Array(Self.sound.wav.prefix(50_000))
        for round in 0..<200 {
            var chance = SeededRandom(seed: UInt64(round))
            var bytes = Array(whole.prefix(round % 3 == 0 ? chance.below(200) : 50_000))
            if !bytes.isEmpty {
                for _ in 0..<1 << chance.below(4) {
                    bytes[chance.below(min(bytes.count, 60))] = UInt8(truncatingIfNeeded: chance.next())
                }
            }
            do throws(ReaderError) {
                let reader = try openReader(StoredBytes(bytes), format: .mono)
                _ = try reader.readAll(limit: 1_000_000)
                _ = try reader.seek(to: .seconds(chance.below(1 << 40)))
                _ = try reader.readSome(1_000)
            } catch { #expect(!"\(error)".isEmpty) }
        }
    }

    /// The factors of ITU-R BS.775 for 5.1, divided by their sum. Each channel sounds alone.
    @Test func sixChannelsAreMixedDownToTwo() throws {
        let half = Float(0.5).squareRoot()
        let left: [Float] = [1, 0, half, 0, half, 0]
        let right: [Float] = [0, 1, half, 0, 0, half]
        for channel in 0..<6 {
            var bytes: [UInt8] = Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0x7F]
            bytes += Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 6, 0, 0x80, 0xBB, 0, 0, 0, 0xCA, 8, 0, 12, 0, 16, 0]
            bytes += Array("data".utf8) + [0xFF, 0xFF, 0xFF, 0x7F]
            for _ in 0..<100 {
                for other in 0..<6 { bytes += other == channel ? [0, 0x40] : [0, 0] }
            }
            let demuxer = try WAVDemuxer(ByteWindow(of: StoredBytes(bytes)))
            let heard = try PacketReader(demuxer, format: LPCMFormat(rate: .opus, channelCount: 2)).readAll()
            let sum = left.reduce(0, +)
            #expect(heard.count == 200)
            #expect(abs(heard[100] - 0.5 * left[channel] / sum) < 1e-4, "\(channel)")
            #expect(abs(heard[101] - 0.5 * right[channel] / sum) < 1e-4, "\(channel)")
        }
    }
}
