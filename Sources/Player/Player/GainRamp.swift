internal import TenfourAudioCore
internal import TenfourEffects

/// A requested gain and the duration of the change, packed into one word so that threads can exchange it atomically.
struct GainRamp: Equatable, BitwiseCopyable, Sendable {
    var gain: Float
    /// The duration of the change in milliseconds, up to 4.6 hours. If it is zero, the gain changes without a ramp as
    /// soon as the output is silent.
    var duration: UInt32
    /// Distinguishes successive requests with the same gain and duration.
    var number: UInt8 = 0

    /// The shortest change without a click, in milliseconds.
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

    /// Full gain, set without a ramp: the state before any fade, and again after playback has ended.
    static var none: Self {
        var ramp = Self(1)
        ramp.duration = 0
        return ramp
    }

    var word: UInt64 {
        @_noAllocation @_noLocks get {
            UInt64(number) << 56 | UInt64(duration) << 32 | UInt64(gain.bitPattern)
        }
    }
}

extension Ramp {
    @_noAllocation @_noLocks
    mutating func begin(_ ramp: GainRamp, rate: SampleRate) {
        begin(ramp.gain, frameCount: Int(ramp.duration) * rate.hertz / 1_000)
    }
}
