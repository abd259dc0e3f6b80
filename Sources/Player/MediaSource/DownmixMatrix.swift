/// The factors by which channels are mixed down to two or one (ITU-R BS.775-4 annex 4).
///
/// The channels have the order of WAVE: left, right, centre, low frequencies, surround left and right, side left and
/// right. Centre and surround are added at 0.707; low frequencies are left out. All factors are divided by the largest
/// sum, so that full scale in all channels does not clip. For other numbers of channels, input channels with the same
/// index modulo the output count are averaged.
struct DownmixMatrix {
    /// The factors of the input channels for each output channel, one output channel after the other.
    let factors: [Float]

    /// The factors of an input channel: its share of the left and of the right output.
    private typealias Speaker = (left: Float, right: Float)

    private static let level: Float = 0.707_106_78
    private static let front: [Speaker] = [(1, 0), (0, 1)]
    private static let centre: Speaker = (level, level)
    private static let surround: [Speaker] = [(level, 0), (0, level)]
    private static let lowFrequencies: Speaker = (0, 0)

    private static let speakers: [Int: [Speaker]] = [
        2: front,
        3: front + [centre],
        4: front + surround,
        5: front + [centre] + surround,
        6: front + [centre, lowFrequencies] + surround,
        8: front + [centre, lowFrequencies] + surround + surround,
    ]

    init(from input: Int, to output: Int) {
        if input == 1 || output > 2 || Self.speakers[input] == nil {
            factors = Self.average(from: input, to: output)
            return
        }
        let speakers = Self.speakers[input] ?? []
        let rows = output == 1 ? [speakers.map { $0.left + $0.right }] : [speakers.map(\.left), speakers.map(\.right)]
        let largest = rows.map { $0.reduce(0, +) }.max() ?? 1
        factors = rows.flatMap { row in row.map { $0 / largest } }
    }

    /// Copies mono to all channels, and leaves channels silent for which there is no input.
    private static func average(from input: Int, to output: Int) -> [Float] {
        (0..<output).flatMap { channel -> [Float] in
            if input == 1 { return [1] }
            let count = (0..<input).count { $0 % output == channel }
            return (0..<input).map { $0 % output == channel ? 1 / Float(count) : 0 }
        }
    }
}
