internal import Sound

/// A gain on its way to where it is wanted, so that no change of it is heard as a click.
struct Ramp: BitwiseCopyable, Sendable {
    private(set) var value: Float
    private var target: Float
    /// A frame.
    private var step: Float = 0

    @_noAllocation @_noLocks
    init(_ value: Float) {
        self.value = value
        target = value
    }

    /// What is wanted of a gain, as threads hand it on: a word.
    struct Wish: Equatable, BitwiseCopyable, Sendable {
        var gain: Float
        /// In milliseconds: up to four and a half hours. Zero is at once, as soon as nothing sounds.
        var duration: UInt32
        /// Tells one from another that wants the same.
        var number: UInt8 = 0

        /// The shortest in which a change is no click.
        static var shortest: UInt32 { 20 }

        private static var longest: Int64 { 1 << 24 - 1 }

        init(_ gain: Float, over duration: Duration = .zero) {
            self.gain = gain
            let milliseconds = Instant.nanoseconds(in: duration) / 1_000_000
            self.duration = UInt32(min(max(milliseconds, Int64(Self.shortest)), Self.longest))
        }

        init(word: UInt64) {
            gain = Float(bitPattern: UInt32(truncatingIfNeeded: word))
            duration = UInt32(truncatingIfNeeded: word >> 32) & 0xFF_FFFF
            number = UInt8(truncatingIfNeeded: word >> 56)
        }

        /// All of the sound, as it is before the first fade and after the last.
        static var none: Self {
            var wish = Self(1)
            wish.duration = 0
            return wish
        }

        var word: UInt64 {
            @_noAllocation @_noLocks get {
                UInt64(number) << 56 | UInt64(duration) << 32 | UInt64(gain.bitPattern)
            }
        }
    }

    /// From the present value on, in a straight line.
    @_noAllocation @_noLocks
    mutating func begin(_ wish: Wish, rate: SampleRate) {
        target = wish.gain
        let frames = max(Float(wish.duration) * Float(rate.hertz) / 1_000, 1)
        step = (target - value) / frames
    }

    @_noAllocation @_noLocks
    mutating func advance() {
        guard value != target else { return }
        value += step
        if step > 0 ? value >= target : value <= target { value = target }
    }
}
