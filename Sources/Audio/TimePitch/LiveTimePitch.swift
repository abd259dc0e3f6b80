public import TenfourAudioCore

/// Changes rate and pitch of a live stream. Below rate 1 it falls behind, and catches up later.
///
/// At the maximum lag it continues at rate 1. It catches up in pauses, of which it keeps 300 ms while it lags; and as
/// soon as the requested rate is 1 or more, at 1.25 at least. A live stream cannot run ahead: without lag the rate is
/// 1. It always buffers 100 ms, since the stretcher looks ahead, and compensates for two clocks that differ.
///
/// For one thread at a time, a worker; allocates nothing after `init`.
public struct LiveTimePitch: ~Copyable, Sendable {
    public let format: LPCMFormat
    public let longestLag: Duration

    /// The requested rate and pitch, as in `TimePitch`.
    public var rate = 1.0
    public var pitch: Double {
        get { timePitch.pitch }
        set { timePitch.pitch = newValue }
    }

    /// Frames dropped because the output was not read.
    public private(set) var dropped = FrameCount.zero
    /// Frames of pauses that were skipped.
    public private(set) var skipped = FrameCount.zero

    private var timePitch: TimePitch
    /// A ring of the input that waits.
    private var samples: FixedBuffer<Float>
    private var first = 0
    private var count = 0
    /// The block that is being processed.
    private var piece: FixedBuffer<Float>
    private var pending = 0..<0
    private var pauseLength = 0
    private var isFilling = true
    private var isCatchingUp = false
    /// Whether the maximum lag is reached.
    private var isFull = false

    private let reserve: Int
    private let longest: Int
    private let longestPause: Int

    private static var catchingUp: Double { 1.25 }
    /// −70 dBFS, below the background noise of any talker.
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

    /// The lag of the next output behind the last input.
    public var lag: Duration { FrameCount(lagFrames).duration(at: format.rate) }

    /// The present rate.
    public var currentRate: Double { timePitch.rate }

    /// Appends input. Beyond the maximum lag the oldest frames are dropped and counted.
    public mutating func append(_ sound: Span<Float>) {
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

    /// Fills `output` from the front and returns the number of frames: fewer if the input is exhausted.
    public mutating func render(into output: inout MutableSpan<Float>) -> FrameCount {
        if isFilling {
            guard lagFrames >= reserve else { return .zero }
            isFilling = false
        }
        let channelCount = format.channelCount
        var produced = 0
        while produced < output.count {
            adjustRate()
            var rest = output._mutatingExtracting(produced..<output.count)
            let progress = Self.pass(piece, pending, through: &timePitch, into: &rest)
            pending = pending.lowerBound + progress.consumed.rawValue * channelCount..<pending.upperBound
            produced += progress.produced.rawValue * channelCount
            guard produced < output.count, pending.isEmpty else { continue }
            guard refill() else {
                isFilling = true
                break
            }
        }
        return FrameCount(produced / channelCount)
    }

    /// Renders the rest after the last input. Returns zero when none is left.
    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount {
        isFilling = false
        let produced = render(into: &output)
        guard produced == .zero else { return produced }
        return timePitch.finish(into: &output)
    }

    private var lagFrames: Int { (count + pending.count) / format.channelCount + Int(timePitch.latency) }

    /// Sets the rate that is due.
    private mutating func adjustRate() {
        let lag = lagFrames
        if lag > 2 * reserve { isCatchingUp = true } else if lag <= reserve { isCatchingUp = false }
        if lag >= longest { isFull = true } else if lag < longest - 2 * reserve { isFull = false }
        let due =
            if rate < 1 { isFull ? 1 : rate } else if isCatchingUp {
                max(rate, Self.catchingUp)
            } else if lag < reserve / 2 {
                // The reader's clock is faster.
                0.95
            } else { 1.0 }
        if due != timePitch.rate { timePitch.rate = due }
    }

    /// Takes up to 10 ms of input for `timePitch`; returns false if there is none.
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
            pending = 0..<length
            return true
        }
        return false
    }

    /// Static, so that the compiler sees accesses to different properties.
    private static func pass(
        _ piece: borrowing FixedBuffer<Float>, _ pending: Range<Int>, through timePitch: inout TimePitch,
        into output: inout MutableSpan<Float>
    ) -> EffectProgress {
        timePitch.process(piece.span(in: pending), into: &output)
    }
}
