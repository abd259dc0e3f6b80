public import Sound

/// Sound on its way to a picture: what there is to see of each hundredth of a second.
public struct SoundTrack: Sendable {
    public private(set) var columns: [Column] = []

    private var open = Column()
    private var sum: Float = 0
    private var sampleCount = 0

    /// A hundredth of a second of it, or more of them taken together.
    public struct Column: Hashable, Sendable {
        /// The root of its mean square.
        public var level = Level.floor
        /// Of the loudest sample.
        public var peak = Level.floor
        /// Of the time, 0…1: made up, and brought back.
        public var concealed = 0.0
        public var recovered = 0.0
        /// Of playout, where something was played.
        public var delay: Duration?
    }

    /// What a column lasts.
    public static let step = Duration.milliseconds(10)
    private static let stepSampleCount = 480

    public init() {}

    /// How long it sounds.
    public var duration: Duration { Self.step * columns.count }

    /// Mono at 48 kHz, with what else is known of it. A piece begins and ends within a column, or whole columns long.
    public mutating func append(
        _ samples: Span<Float>, concealed: FrameCount = .zero, recovered: FrameCount = .zero, delay: Duration? = nil
    ) {
        for index in samples.indices {
            sum += samples[index] * samples[index]
            open.peak = max(open.peak, Level(meanSquare: samples[index] * samples[index]))
        }
        sampleCount += samples.count
        open.concealed += Double(concealed.rawValue) / Double(Self.stepSampleCount)
        open.recovered += Double(recovered.rawValue) / Double(Self.stepSampleCount)
        open.delay = delay ?? open.delay
        guard sampleCount >= Self.stepSampleCount else { return }
        open.level = Level(meanSquare: sum / Float(sampleCount))
        // An operation may cover more than the column in which it was decided on: the rest belongs to those after it.
        let (concealedRest, recoveredRest) = (max(open.concealed - 1, 0), max(open.recovered - 1, 0))
        (open.concealed, open.recovered) = (min(open.concealed, 1), min(open.recovered, 1))
        columns.append(open)
        open = Column()
        (open.concealed, open.recovered) = (concealedRest, recoveredRest)
        (sum, sampleCount) = (0, 0)
    }

    /// Leaves out what comes after the first `count` columns.
    public mutating func cut(to count: Int) { columns.removeLast(max(columns.count - max(count, 0), 0)) }

    /// As `count` columns or fewer, each of as many of these: the loudest peak, the mean of the rest.
    public func reduced(to count: Int) -> [Column] {
        guard count > 0, columns.count > count else { return columns }
        return (0..<count).map { index in
            let range = index * columns.count / count..<(index + 1) * columns.count / count
            return Self.together(columns[range])
        }
    }

    private static func together(_ columns: ArraySlice<Column>) -> Column {
        let delays = columns.compactMap(\.delay)
        return Column(
            level: columns.map(\.level).max() ?? .floor, peak: columns.map(\.peak).max() ?? .floor,
            concealed: columns.map(\.concealed).reduce(0, +) / Double(columns.count),
            recovered: columns.map(\.recovered).reduce(0, +) / Double(columns.count), delay: delays.max())
    }
}
