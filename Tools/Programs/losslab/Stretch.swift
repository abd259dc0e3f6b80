import ArgumentParser
import Glibc
import Playout
import Sound
import SoundFile

/// Our time-stretch by itself, as a voice drives it: a packet at a time, a period where one is due.
struct Stretch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change the tempo of a sound by so much and back again, by tenfour's own time-stretch.")

    @Argument(help: "A sound file of 48 kHz mono.")
    var input: String

    @Argument(help: "Where to write the result, a WAV.")
    var output: String

    @Option(help: "By so many percent faster, and then slower again.")
    var percent = 5.0

    @Flag(help: "Leave it faster.")
    var once = false

    func run() throws {
        var reader = try SoundFileReader(path: input)
        var sound: [Float] = []
        var piece = [Float](repeating: 0, count: 4_800)
        while true {
            var room = piece.mutableSpan
            let count = try reader.read(into: &room).rawValue
            guard count > 0 else { break }
            sound += piece[..<count]
        }
        var seams = Seams()
        var bent = Self.bend(sound, by: 1 / (1 + percent / 100), &seams)
        if !once { bent = Self.bend(bent, by: Double(sound.count) / Double(bent.count), &seams) }
        var writer = try SoundFileWriter(path: output, format: .mono)
        try writer.write(bent.span)
        try writer.close()
        print(
            "{\"frames_before\": \(sound.count), \"frames_after\": \(bent.count), \"cuts\": \(seams.count), "
                + "\"seam_energy_db\": \(seams.worst)}")
    }

    /// `sound` made as long as it was times `ratio`.
    private static func bend(_ sound: [Float], by ratio: Double, _ seams: inout Seams) -> [Float] {
        var stretch = TimeStretch(channelCount: 1)
        let (history, frame) = (TimeStretch.reach.rawValue, 960)
        var work = Preallocated<Float>(repeating: 0, count: history + 4 * frame)
        var result: [Float] = []
        var level = TalkLevel()
        var owed = 0.0
        for start in stride(from: 0, to: sound.count - sound.count % frame, by: frame) {
            for index in 0..<frame { work[history + index] = sound[start + index] }
            var count = frame
            owed += Double(frame) * (ratio - 1)
            let isPause = level.isPause(
                meanSquare: meanSquare(of: work.span(in: history..<history + count)), lasting: FrameCount(count))
            let limit = FrameCount(Int(abs(owed)))
            if limit >= TimeStretch.shortest {
                let changed =
                    owed < 0
                    ? stretch.shorten(&work, from: history, to: history + count, atMost: limit, anywhere: isPause)
                    : stretch.lengthen(&work, from: history, to: history + count, atMost: limit, anywhere: isPause)
                let change = owed < 0 ? -changed.rawValue : changed.rawValue
                owed -= Double(change)
                count += change
                if change != 0 { seams.look(at: work, around: history, count: count) }
            }
            for index in 0..<count { result.append(work[history + index]) }
            // What was played last is the history of what comes next.
            for index in 0..<history { work[index] = work[index + count] }
        }
        return result
    }
}

/// How much louder the sound is at the seams than around them, where only steps count: the energy of its second differences.
private struct Seams {
    var count = 0
    /// In decibels; a click of full scale in quiet speech is some 40.
    var worst = -100.0

    mutating func look(at sound: borrowing Preallocated<Float>, around place: Int, count length: Int) {
        count += 1
        let energy = { (range: Range<Int>, sound: borrowing Preallocated<Float>) -> Double in
            var most = 1e-9
            for index in range.dropFirst(2) {
                let step = Double(sound[index] - 2 * sound[index - 1] + sound[index - 2])
                most = max(most, step * step)
            }
            return most
        }
        let seam = energy(place - 2..<place + 240, sound)
        let around = max(energy(place - 480..<place - 2, sound), energy(place + 240..<place + length, sound))
        worst = max(worst, 10 * log10(seam / around))
    }
}
