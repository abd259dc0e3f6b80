import Glibc
import TenfourAudioCore
import TenfourTimePitch

/// Processes audio with a `TimePitch` in blocks, as a worker thread does.
struct TimePitchRun: ~Copyable {
    var timePitch: TimePitch
    private(set) var output: [Float] = []
    /// The input position of each block of `output`, at its first frame.
    private(set) var positions: [(frame: Int, position: Double)] = []
    private let block: Int

    init(_ format: LPCMFormat = .mono, rate: Double = 1, pitch: Double = 0, block: Int = 480) {
        timePitch = TimePitch(format: format)
        timePitch.rate = rate
        timePitch.pitch = pitch
        self.block = block
    }

    /// Processes all of `input`.
    mutating func process(_ input: [Float]) {
        let channelCount = timePitch.format.channelCount
        var room = [Float](repeating: 0, count: block * channelCount)
        var taken = 0
        while true {
            recordPosition()
            var space = room.mutableSpan
            let progress = timePitch.process(input.span.extracting(taken * channelCount..<input.count), into: &space)
            taken += progress.consumed.rawValue
            output += room[..<(progress.produced.rawValue * channelCount)]
            if progress.produced.rawValue < block, taken * channelCount == input.count { break }
        }
    }

    mutating func finish() {
        var room = [Float](repeating: 0, count: block * timePitch.format.channelCount)
        while true {
            recordPosition()
            var space = room.mutableSpan
            let produced = timePitch.finish(into: &space).rawValue
            if produced == 0 { break }
            output += room[..<(produced * timePitch.format.channelCount)]
        }
    }

    private mutating func recordPosition() {
        positions.append((output.count / timePitch.format.channelCount, timePitch.position))
    }
}

/// Returns a sine at a quarter of full scale, −12 dB.
func tone(_ hertz: Double, seconds: Double, rate: Double = 48_000) -> [Float] {
    (0..<Int(seconds * rate)).map { Float(0.25 * sin(2 * Double.pi * hertz * Double($0) / rate)) }
}
