import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourSeededRandom
import TestSupport
import Testing

@testable import TenfourAudioFile

private func range(_ start: Int, _ end: Int) -> Range<FrameCount> { FrameCount(start)..<FrameCount(end) }

private func marks(_ ranges: Range<FrameCount>...) -> WAVMarks {
    var marks = WAVMarks()
    for range in ranges { marks.add(range) }
    return marks
}

/// Tests the ranges marked as lost in a recording.
struct WAVMarksTests {
    private let folder = Folder()

    private func write(_ marks: WAVMarks, frameCount: Int, coding: SampleCoding = .signed16, to name: String) throws {
        var writer = try AudioFileWriter(path: folder(name), format: .mono, coding: coding)
        try writer.write([Float](repeating: 0.5, count: frameCount).span)
        writer.marks = marks
        try writer.close()
    }

    @Test func stretchesThatMeetAreOne() {
        #expect(marks(range(10, 20), range(20, 30), range(40, 50)).ranges == [range(10, 30), range(40, 50)])
        #expect(marks(range(10, 20), range(40, 50), range(15, 45)).ranges == [range(10, 50)], "added out of order")
        #expect(marks(range(40, 50), range(10, 20)).ranges == [range(10, 20), range(40, 50)])
        #expect(marks(range(10, 50), range(20, 30), range(5, 5)).ranges == [range(10, 50)])
    }

    @Test(arguments: [SampleCoding.signed16, .unsigned8]) func markedRangesAreReadBack(_ coding: SampleCoding) throws {
        try write(marks(range(100, 200), range(900, 5_000)), frameCount: 1_001, coding: coding, to: "a.wav")
        #expect(
            WAVMarks(ofFileAt: folder("a.wav")).ranges == [range(100, 200), range(900, 1_001)],
            "up to the end of the sound")
        // Other programs accept the file, and do not take the chunks for audio.
        let count = try Program.run("soxi", ["-s", "a.wav"], in: folder)
        #expect(count.output == "1001\n" && count.errors == "", "\(count)")
        let decoded = try Program.run("ffmpeg", ["-v", "error", "-i", "a.wav", "-f", "u8", "-"], in: folder)
        #expect(decoded.end == .code(0) && decoded.errors == "", "\(decoded.errors)")
        var reader = try AudioFileReader(path: folder("a.wav"))
        #expect(reader.frameCount == FrameCount(1_001))
        var samples = [Float](repeating: 0, count: 2_000)
        var span = samples.mutableSpan
        #expect(try reader.read(into: &span) == FrameCount(1_001))
    }

    @Test func aFileWithoutMarksHasNoMoreThanItsSound() throws {
        try write(marks(range(2_000, 3_000)), frameCount: 1_000, to: "a.wav")
        #expect(Folder.bytes(of: folder("a.wav")).count == 44 + 2_000)
        #expect(WAVMarks(ofFileAt: folder("a.wav")).ranges.isEmpty)
        #expect(WAVMarks(ofFileAt: folder("nothing.wav")).ranges.isEmpty)
    }

    /// Reading marks ends for any damaged file.
    @Test func brokenFilesHaveMarksOrNone() throws {
        try write(marks(range(1, 2), range(5, 9), range(20, 50)), frameCount: 60, to: "a.wav")
        let whole = Folder.bytes(of: folder("a.wav"))
        var random = SeededRandom(seed: 1)
        for _ in 0..<500 {
            var bytes = Array(whole.prefix(Int.random(in: 0...whole.count, using: &random)))
            for _ in 0..<8 where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            folder.write(bytes, to: "b.wav")
            #expect(WAVMarks(ofFileAt: folder("b.wav")).ranges.count <= 3)
        }
    }
}
