public import TenfourAudioCore

/// How loud the sound is. Changes without a click, at once or over a time.
///
/// One thread at a time, which may be an audio thread: nothing is allocated, and nothing waits.
public struct Volume: ~Copyable, InPlaceEffect, Sendable {
    public let format: LPCMFormat

    private var ramp: Ramp

    /// What the last frame was multiplied by.
    public var gain: Float { ramp.value }
    /// What gain goes to, or has come to: 0…1.
    public var target: Float { ramp.target }

    /// `gain` is of the amplitude, 0…1.
    public init(format: LPCMFormat, gain: Float = 1) {
        self.format = format
        ramp = Ramp(Self.kept(gain))
    }

    /// Goes to `gain`, 0…1, evenly over `duration`, which is 10 ms at the least. What is beyond 0 or 1 is brought to it.
    public mutating func fade(to gain: Float, over duration: Duration = .zero) {
        fade(to: gain, over: FrameCount(duration, at: format.rate))
    }

    /// The same, on an audio thread, too.
    @_noAllocation @_noLocks
    public mutating func fade(to gain: Float, over frames: FrameCount) {
        ramp.begin(Self.kept(gain), frameCount: max(frames.rawValue, format.rate.hertz / 100))
    }

    public var isFading: Bool { @_noAllocation @_noLocks get { ramp.isMoving } }

    @_noAllocation @_noLocks
    public mutating func apply(to samples: inout MutableSpan<Float>) {
        guard ramp.isMoving || ramp.value != 1 else { return }
        var index = 0
        while index + format.channelCount <= samples.count {
            ramp.advance()
            for _ in 0..<format.channelCount {
                samples[index] *= ramp.value
                index += 1
            }
        }
    }

    /// As for a new beginning: a fade is over.
    public mutating func clear() { ramp = Ramp(ramp.target) }

    /// What is no number is silence.
    @_noAllocation @_noLocks
    private static func kept(_ gain: Float) -> Float { gain > 0 ? min(gain, 1) : 0 }
}
