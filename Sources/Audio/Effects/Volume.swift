public import TenfourAudioCore

/// A volume control. Changes without a click, immediately or over a given time.
///
/// For one thread at a time, which may be an audio thread: no function allocates or blocks.
public struct Volume: ~Copyable, InPlaceEffect, Sendable {
    public let format: LPCMFormat

    private var ramp: Ramp

    /// The gain of the last processed frame, 0…1.
    public var gain: Float { ramp.value }
    /// The gain at the end of the present fade, 0…1.
    public var target: Float { ramp.target }

    /// Creates a volume control. `gain` is a factor of the amplitude, 0…1.
    public init(format: LPCMFormat, gain: Float = 1) {
        self.format = format
        ramp = Ramp(Self.clamped(gain))
    }

    /// Fades to `gain`, limited to 0…1, linearly over `duration`, at least 10 ms.
    public mutating func fade(to gain: Float, over duration: Duration = .zero) {
        fade(to: gain, over: FrameCount(duration, at: format.rate))
    }

    /// Fades to `gain` over `frames`, at least 10 ms. May be called on an audio thread.
    @_noAllocation @_noLocks
    public mutating func fade(to gain: Float, over frames: FrameCount) {
        ramp.begin(Self.clamped(gain), frameCount: max(frames.rawValue, format.rate.hertz / 100))
    }

    public var isFading: Bool { @_noAllocation @_noLocks get { ramp.isMoving } }

    @_noAllocation @_noLocks
    public mutating func apply(to samples: inout MutableSpan<Float>) {
        ramp.multiply(&samples, channelCount: format.channelCount)
    }

    /// Ends the present fade immediately: the gain jumps to `target`.
    public mutating func clear() { ramp = Ramp(ramp.target) }

    /// Limits a gain to 0…1; NaN becomes 0.
    @_noAllocation @_noLocks
    private static func clamped(_ gain: Float) -> Float { gain > 0 ? min(gain, 1) : 0 }
}
