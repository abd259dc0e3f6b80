public import TenfourAudioCore

/// Changes rate and pitch of a live stream. Below rate 1 the output lags behind the input, and catches up later.
///
/// At the maximum lag the output continues at rate 1. The lag is reduced in two ways: pauses in speech are shortened to
/// 300 ms, and while the requested rate is 1 or more, audio is played at a rate of at least 1.25. Without lag the rate
/// is 1, since a live stream cannot run ahead. 100 ms are always buffered: the stretcher needs the audio that follows,
/// and the clocks of writer and reader differ.
///
/// For one thread at a time, a worker; allocates nothing after `init`.
public struct LiveTimePitch: ~Copyable, Sendable {
    /// The format of input and output.
    public let format: LPCMFormat
    /// The maximum lag. At it the output continues at rate 1.
    public let longestLag: Duration

    /// The requested rate. The range is `TimePitch.rates`.
    public var rate = 1.0
    /// The pitch shift in cents, limited to `TimePitch.pitches`.
    public var pitch: Double {
        get { timePitch.pitch }
        set { timePitch.pitch = newValue }
    }

    /// The number of frames dropped because the output was not read.
    public private(set) var dropped = FrameCount.zero
    /// The number of frames skipped in pauses to reduce the lag.
    public private(set) var skipped = FrameCount.zero

    private var timePitch: TimePitch
    /// The ring buffer of the input that is not processed yet.
    private var samples: FixedBuffer<Float>
    /// The index in `samples` of the oldest sample.
    private var first = 0
    /// The number of samples in the ring buffer.
    private var count = 0
    /// The block of input that is being processed.
    private var piece: FixedBuffer<Float>
    /// The range of `piece` that is not processed yet.
    private var pending = 0..<0
    /// The length of the present pause so far, in frames.
    private var pauseLength = 0
    private var isFilling = true
    private var isCatchingUp = false
    /// Whether the lag has reached the maximum and is not yet 200 ms shorter.
    private var isFull = false

    private let reserve: Int
    private let longest: Int
    private let longestPause: Int

    private static var catchingUp: Double { 1.25 }
    /// The mean square below which audio counts as silence: −70 dBFS, below the background noise of any talker.
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

    /// The lag of the next output frame behind the last input frame.
    public var lag: Duration { FrameCount(lagFrames).duration(at: format.rate) }

    /// The rate at which the stream is rendered at present; the lag may require another rate than the requested `rate`.
    public var currentRate: Double { timePitch.rate }

    /// Appends input. If the input that is not processed yet exceeds the maximum lag by a second, the oldest frames are
    /// dropped and counted in `dropped`.
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

    /// Fills `output` from the front and returns the number of frames, which is less than requested if the input is
    /// exhausted.
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

    /// Renders the buffered audio after the last input. Call until it returns zero.
    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount {
        isFilling = false
        let produced = render(into: &output)
        guard produced == .zero else { return produced }
        return timePitch.finish(into: &output)
    }

    private var lagFrames: Int { (count + pending.count) / format.channelCount + Int(timePitch.latency) }

    /// Computes the rate from the requested rate and the lag, and sets it in `timePitch`.
    private mutating func adjustRate() {
        let lag = lagFrames
        if lag > 2 * reserve { isCatchingUp = true } else if lag <= reserve { isCatchingUp = false }
        if lag >= longest { isFull = true } else if lag < longest - 2 * reserve { isFull = false }
        let due =
            if rate < 1 { isFull ? 1 : rate } else if isCatchingUp {
                max(rate, Self.catchingUp)
            } else if lag < reserve / 2 {
                // Slows down, because the lag is too short: the reader's clock is faster than the writer's.
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

    /// Passes the block through `timePitch`. Static, so that the compiler sees that the arguments are different
    /// properties.
    private static func pass(
        _ piece: borrowing FixedBuffer<Float>, _ pending: Range<Int>, through timePitch: inout TimePitch,
        into output: inout MutableSpan<Float>
    ) -> EffectProgress {
        timePitch.process(piece.span(in: pending), into: &output)
    }
}
