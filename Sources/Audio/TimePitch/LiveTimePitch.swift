public import TenfourAudioCore

/// Time and pitch of sound that comes at its own pace, such as a live stream: slower than it comes it falls behind, and catches
/// up again.
///
/// It falls behind by `longestLag` at the most, and from there on goes at rate 1. It catches up in pauses, of which 300 ms are
/// left while it is behind; and as soon as the rate is 1 or more, at no less than 1.25. Faster than it comes a live stream
/// cannot be: without a lag it goes at rate 1. A tenth of a second always lies in it, as the stretch must look ahead, and makes
/// up for two clocks that differ.
///
/// One thread at a time, a worker's; nothing is allocated after `init`.
public struct LiveTimePitch: ~Copyable, Sendable {
    public let format: LPCMFormat
    public let longestLag: Duration

    /// What is wanted, as in `TimePitch`.
    public var rate = 1.0
    public var pitch: Double {
        get { timePitch.pitch }
        set { timePitch.pitch = newValue }
    }

    /// Frames that were too many because nobody took what was given.
    public private(set) var dropped = FrameCount.zero
    /// Frames of pauses that were left out.
    public private(set) var skipped = FrameCount.zero

    private var timePitch: TimePitch
    /// What has come and waits, in a ring.
    private var samples: FixedBuffer<Float>
    private var first = 0
    private var count = 0
    /// Some of it, on its way through `timePitch`.
    private var piece: FixedBuffer<Float>
    private var waiting = 0..<0
    private var pauseLength = 0
    private var isFilling = true
    private var isCatchingUp = false
    /// It is as far behind as it may be.
    private var isFull = false

    private let reserve: Int
    private let longest: Int
    private let longestPause: Int

    private static var catchingUp: Double { 1.25 }
    /// −70 dBFS, below every talker's room.
    private static var silence: Float { 1e-7 }

    public init(format: LPCMFormat, longestLag: Duration = .seconds(30)) {
        self.format = format
        self.longestLag = longestLag
        timePitch = TimePitch(format: format)
        let second = format.rate.hertz
        reserve = second / 10
        longest = max(FrameCount(longestLag, at: format.rate).rawValue, 2 * reserve)
        longestPause = second * 3 / 10
        samples = FixedBuffer(repeating: 0, count: (longest + second) * format.channelCount)
        piece = FixedBuffer(repeating: 0, count: max(second / 100, 1) * format.channelCount)
    }

    /// How far what is given next lies behind what came last.
    public var lag: Duration { FrameCount(lagFrames).duration(at: format.rate) }

    /// The rate at which it goes.
    public var currentRate: Double { timePitch.rate }

    /// Takes sound that has come. Where that is more than can be behind, the oldest makes room for it, and is counted.
    public mutating func take(_ sound: Span<Float>) {
        let capacity = samples.count
        for index in sound.indices {
            if count == capacity {
                first = (first + format.channelCount) % capacity
                count -= format.channelCount
                dropped += FrameCount(1)
            }
            samples[(first + count) % capacity] = sound[index]
            count += 1
        }
    }

    /// Fills `output` from the front and returns how many frames it filled: fewer than there is room for when no more has come.
    public mutating func give(into output: inout MutableSpan<Float>) -> FrameCount {
        if isFilling {
            guard lagFrames >= reserve else { return .zero }
            isFilling = false
        }
        let channelCount = format.channelCount
        var produced = 0
        while produced < output.count {
            turn()
            var rest = output._mutatingExtracting(produced..<output.count)
            let progress = Self.pass(piece, waiting, through: &timePitch, into: &rest)
            waiting = waiting.lowerBound + progress.consumed.rawValue * channelCount..<waiting.upperBound
            produced += progress.produced.rawValue * channelCount
            guard produced < output.count, waiting.isEmpty else { continue }
            guard refill() else {
                isFilling = true
                break
            }
        }
        return FrameCount(produced / channelCount)
    }

    /// There is no more to come: gives what is left, whether that is much or little. Zero when that was all.
    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount {
        isFilling = false
        let produced = give(into: &output)
        guard produced == .zero else { return produced }
        return timePitch.finish(into: &output)
    }

    private var lagFrames: Int { (count + waiting.count) / format.channelCount + Int(timePitch.latency) }

    /// To the rate that is due.
    private mutating func turn() {
        let lag = lagFrames
        if lag > 2 * reserve { isCatchingUp = true } else if lag <= reserve { isCatchingUp = false }
        if lag >= longest { isFull = true } else if lag < longest - 2 * reserve { isFull = false }
        let due =
            if rate < 1 { isFull ? 1 : rate } else if isCatchingUp {
                max(rate, Self.catchingUp)
            } else if lag < reserve / 2 {
                // The other clock is the faster one.
                0.95
            } else { 1.0 }
        if due != timePitch.rate { timePitch.rate = due }
    }

    /// Ten milliseconds for `timePitch`, or what there is of them. False when there is nothing.
    private mutating func refill() -> Bool {
        while count > 0 {
            let length = min(piece.count, count)
            for index in 0..<length { piece[index] = samples[(first + index) % samples.count] }
            first = (first + length) % samples.count
            count -= length
            let frames = length / format.channelCount
            pauseLength = meanSquare(of: piece.span(in: 0..<length)) < Self.silence ? pauseLength + frames : 0
            if pauseLength > longestPause, lagFrames > 2 * reserve {
                skipped += FrameCount(frames)
                continue
            }
            waiting = 0..<length
            return true
        }
        return false
    }

    /// Apart from `self`, whose parts would otherwise be taken for one.
    private static func pass(
        _ piece: borrowing FixedBuffer<Float>, _ waiting: Range<Int>, through timePitch: inout TimePitch,
        into output: inout MutableSpan<Float>
    ) -> EffectProgress {
        timePitch.process(piece.span(in: waiting), into: &output)
    }
}
