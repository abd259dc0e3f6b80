internal import TenfourAudioCore
internal import TenfourEffects

/// What is wanted of a gain, as threads hand it on: a word.
struct GainRamp: Equatable, BitwiseCopyable, Sendable {
    var gain: Float
    /// In milliseconds: up to four and a half hours. Zero is at once, as soon as nothing sounds.
    var duration: UInt32
    /// Tells one from another that wants the same.
    var number: UInt8 = 0

    /// The shortest in which a change is no click.
    static var shortest: UInt32 { 20 }

    private static var longest: Int64 { 0xFF_FFFF }

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

extension Ramp {
    @_noAllocation @_noLocks
    mutating func begin(_ wish: GainRamp, rate: SampleRate) {
        begin(wish.gain, frameCount: Int(wish.duration) * rate.hertz / 1_000)
    }
}
