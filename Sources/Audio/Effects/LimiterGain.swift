internal import TenfourAudioCore

/// The gain of a limiter: it falls in a ramp before a peak, holds, and rises slowly.
struct LimiterGain: ~Copyable, Sendable {
    /// The gain that was returned last.
    private(set) var last: Float = 1

    private let attack: Int
    /// The minimum of the gains that the frames need that are entered and not yet out, and those of the hold time.
    private var needed: WindowMinimum
    /// The gain before it is averaged: it falls immediately with `needed`, and rises slowly.
    private var held = 1.0
    private var rise = 0.0
    /// The last `attack` values of `held`, in fixed point, so that their sum stays exact. Their mean is the gain, which
    /// therefore changes in a ramp.
    private var recent: FixedBuffer<Int64>
    private var place = 0
    private var sum: Int64
    /// The number of frames since `held` returned to 1, at most the length of `needed`.
    private var restingCount: Int

    /// The value 1 in the fixed-point format of `recent`.
    private static var one: Int64 { 1 << 40 }
    /// The time for which the gain stays down after a peak, so that it does not follow each wave of a low note.
    private static let hold = Duration.milliseconds(10)

    init(attack: Int, _ rate: SampleRate) {
        self.attack = attack
        needed = WindowMinimum(length: attack + FrameCount(Self.hold, at: rate).rawValue)
        recent = FixedBuffer(repeating: Self.one, count: attack)
        sum = Self.one * Int64(attack)
        restingCount = needed.length
    }

    mutating func setRelease(_ seconds: Double, _ rate: SampleRate) {
        rise = DecibelMath.share(seconds: seconds, rate: rate.hertz)
    }

    /// Whether the gain is 1 and stays 1 until less is needed.
    var isAtRest: Bool { @_noAllocation @_noLocks get { restingCount >= needed.length } }

    /// Takes the gain that a frame needs, and returns the gain of the frame `attack` frames before.
    @_noAllocation @_noLocks
    mutating func next(_ wanted: Float) -> Float {
        let lowest = needed.next(wanted)
        if isAtRest, lowest == 1 { return 1 }
        held = min(Double(lowest), held + (1 - held) * rise)
        if held > 0.999_99 { held = 1 }
        restingCount = held < 1 ? 0 : min(restingCount + 1, needed.length)
        // Rounds down, so that no rounding lifts a peak above the ceiling.
        let fixed = Int64(held * Double(Self.one))
        sum += fixed - recent[place]
        recent[place] = fixed
        place = place + 1 == attack ? 0 : place + 1
        let mean = Double(sum) / Double(Self.one * Int64(attack))
        last = mean >= 1 ? 1 : Float(mean).nextDown
        return last
    }

    /// Returns to a gain of 1 at once.
    mutating func clear() {
        needed.clear()
        for index in 0..<attack { recent[index] = Self.one }
        sum = Self.one * Int64(attack)
        (held, restingCount, last) = (1, needed.length, 1)
    }
}
