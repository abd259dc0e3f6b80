import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourJitterBuffer

/// Runs tenfour's time-scaling alone, as a jitter buffer uses it: packet by packet, by one pitch period when
/// necessary.
struct LossRun: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change the tempo of a recording and restore it, both with tenfour's own time-stretch.")

    @Argument(help: "A sound file of 48 kHz mono.")
    var input: String

    @Argument(help: "The WAV file to write.")
    var output: String

    @Option(help: "Change of the tempo, in percent; positive is faster.")
    var percent = 5.0

    @Flag(help: "Do not restore the tempo.")
    var once = false

    func run() throws {
        var reader = try AudioFileReader(path: input)
        var sound: [Float] = []
        var piece = [Float](repeating: 0, count: 4_800)
        while true {
            var room = piece.mutableSpan
            let count = try reader.read(into: &room).rawValue
            guard count > 0 else { break }
            sound += piece[..<count]
        }
        var seams = Seams()
        var timeScaled = Self.scale(sound, by: 1 / (1 + percent / 100), &seams)
        if !once { timeScaled = Self.scale(timeScaled, by: Double(sound.count) / Double(timeScaled.count), &seams) }
        var writer = try AudioFileWriter(path: output, format: .mono)
        try writer.write(timeScaled.span)
        try writer.close()
        print(
            "{\"frames_before\": \(sound.count), \"frames_after\": \(timeScaled.count), \"cuts\": \(seams.count), "
                + "\"worst_seam_db\": \(seams.worst)}")
    }

    /// Returns `sound` with its length multiplied by `ratio`.
    private static func scale(_ sound: [Float], by ratio: Double, _ seams: inout Seams) -> [Float] {
        var stretch = TimeScaler(channelCount: 1)
        let (history, frame) = (960, 960)
        var work = FixedBuffer<Float>(repeating: 0, count: history + 4 * frame)
        var result: [Float] = []
        var level = TalkLevel()
        var owed = 0.0
        var before = FixedBuffer<Float>(repeating: 0, count: work.count)
        for start in stride(from: 0, to: sound.count - sound.count % frame, by: frame) {
            for index in 0..<frame { work[history + index] = sound[start + index] }
            var count = frame
            owed += Double(frame) * (ratio - 1)
            let isPause = level.isPause(
                meanSquare: meanSquare(of: work.span(in: history..<history + count)), lasting: FrameCount(count))
            let limit = FrameCount(Int(abs(owed)))
            if limit >= FrameCount(240) {
                for index in 0..<history + count { before[index] = work[index] }
                let changed =
                    owed < 0
                    ? stretch.shorten(
                        &work, from: history, to: history + count, atMost: limit, anywhere: isPause,
                        loudness: level.loudest)
                    : stretch.lengthen(
                        &work, from: history, to: history + count, atMost: limit, anywhere: isPause,
                        loudness: level.loudest)
                let change = owed < 0 ? -changed.rawValue : changed.rawValue
                owed -= Double(change)
                count += change
                if change != 0 {
                    seams.look(at: work, madeOf: before, around: history + stretch.seam.rawValue, change: change)
                }
            }
            for index in 0..<count { result.append(work[history + index]) }
            // The end of the packet just played becomes the history for the next packet.
            for index in 0..<history { work[index] = work[index + count] }
        }
        return result
    }
}

/// Measures clicks at seams: compares the second differences of the samples at a seam with the largest second
/// differences of the original audio.
private struct Seams {
    var count = 0
    /// The sharpest seam in decibels: 0 is as sharp as the original audio, a click in quiet speech about 40.
    var worst = -100.0

    mutating func look(
        at sound: borrowing FixedBuffer<Float>, madeOf before: borrowing FixedBuffer<Float>, around place: Int,
        change: Int
    ) {
        count += 1
        let seam = Self.sharpest(sound, place - 1..<place + 360 + max(change, 0))
        worst = max(
            worst, 10 * log10(seam / Self.sharpest(before, place - max(change, 0) - 2..<place + 362 - min(change, 0))))
    }

    private static func sharpest(_ sound: borrowing FixedBuffer<Float>, _ range: Range<Int>) -> Double {
        var most = 1e-9
        for index in range {
            let step = Double(sound[index] - 2 * sound[index - 1] + sound[index - 2])
            most = max(most, step * step)
        }
        return most
    }
}
