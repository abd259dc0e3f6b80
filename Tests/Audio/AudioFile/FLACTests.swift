import Glibc
import TenfourAudioCore
import TenfourAudioFile
import Testing

/// FLAC files that `AudioFileWriter` writes.
struct FLACTests {
    private let folder = TemporaryFolder()

    /// Whole steps of `bitCount` bits, up to both ends of the range, and interleaved for `format`.
    private func samples(bitCount: Int, _ format: LPCMFormat) -> [Float] {
        let scale = Float(1 << (bitCount - 1))
        let steps = (0..<5_000 * format.channelCount).map { Float(($0 * 7_919) % Int(2 * scale)) - scale }
        return ([-scale, scale - 1] + Array(repeating: 0, count: format.channelCount * 2 - 2) + steps).map {
            $0 / scale
        }
    }

    private func read(_ path: String) throws -> [Float] {
        var reader = try AudioFileReader(path: path)
        var samples = [Float](repeating: 0, count: 100_000)
        var room = samples.mutableSpan
        let count = try reader.read(into: &room).rawValue * reader.format.channelCount
        return Array(samples[..<count])
    }

    @Test(arguments: [(SampleCoding.signed16, 16, 1), (.packedSigned24, 24, 2), (.packedSigned24, 24, 8)])
    func theSamplesAreKept(coding: SampleCoding, bitCount: Int, channelCount: Int) throws {
        let format = LPCMFormat(rate: SampleRate(hertz: 44_100), channelCount: channelCount)
        let path = folder.file("a.flac")
        let given = samples(bitCount: bitCount, format)
        var writer = try AudioFileWriter(path: path, format: format, coding: coding, container: .flac)
        let half = given.count / channelCount / 2 * channelCount
        try writer.write(given.span.extracting(0..<half))
        try writer.write(given.span.extracting(half..<given.count))
        try writer.close()
        try writer.close()
        #expect(try read(path) == given)
    }

    @Test func aWriterThatIsNotClosedCompletesItsFile() throws {
        let path = folder.file("a.flac")
        let given = samples(bitCount: 16, .mono)
        do {
            var writer = try AudioFileWriter(path: path, format: .mono, container: .flac)
            try writer.write(given.span)
        }
        #expect(try AudioFileReader(path: path).frameCount == FrameCount(given.count))
        #expect(try read(path) == given)
    }

    @Test func whatIsBeyondFullScaleIsClipped() throws {
        let path = folder.file("a.flac")
        var writer = try AudioFileWriter(path: path, format: .mono, container: .flac)
        try writer.write([2, -3, .nan, .infinity].span)
        try writer.close()
        #expect(try read(path) == [32_767 / 32_768, -1, 0, 32_767 / 32_768])
    }

    @Test func aFileThatIsThereStaysUntilTheFirstSample() throws {
        let path = folder.file("a.flac", of: [1, 2, 3])
        var writer = try AudioFileWriter(path: path, format: .mono, container: .flac, createsOnFirstWrite: true)
        try writer.close()
        #expect(unsafe access(path, F_OK) == 0)
        let new = folder.file("new.flac")
        writer = try AudioFileWriter(path: new, format: .mono, container: .flac, createsOnFirstWrite: true)
        try writer.close()
        #expect(unsafe access(new, F_OK) != 0)
    }

    @Test func whatFLACCannotHoldIsRefused() throws {
        #expect(throws: AudioFileError(.unsupportedCoding(.float32), name: folder.file("a.flac"))) {
            _ = try AudioFileWriter(
                path: folder.file("a.flac"), format: .mono, coding: .float32, container: .flac)
        }
        var writer = try AudioFileWriter(path: "/dev/full", format: .mono, container: .flac, createsOnFirstWrite: true)
        var reason: AudioFileError.Reason?
        do throws(AudioFileError) {
            for _ in 0..<20 { try writer.write([Float](repeating: 0.5, count: 4_800).span) }
            try writer.close()
        } catch {
            reason = error.reason
        }
        #expect(reason == .diskIsFull)
    }

    @Test func framesAreSkippedInFilesAndPipes() throws {
        let format = LPCMFormat(rate: .opus, channelCount: 2)
        let given = samples(bitCount: 16, format)
        for container in [AudioFileWriter.Container.flac, .wav] {
            let path = folder.file("a.\(container)")
            var writer = try AudioFileWriter(path: path, format: format, container: container)
            try writer.write(given.span)
            try writer.close()
            var reader = try AudioFileReader(path: path)
            #expect(try reader.skip(FrameCount(1_000)) == FrameCount(1_000))
            var frame: [Float] = [0, 0]
            var room = frame.mutableSpan
            _ = try reader.read(into: &room)
            #expect(frame == Array(given[2_000..<2_002]))
            #expect(try reader.skip(FrameCount(100_000)) == FrameCount(given.count / 2 - 1_001))
        }
    }
}
