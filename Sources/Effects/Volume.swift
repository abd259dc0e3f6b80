public import Sound

/// How loud the sound is. Changes without a click, at once or over a time.
///
/// One thread at a time, which may be an audio thread: nothing is allocated, and nothing waits.
public struct Volume: ~Copyable, InPlaceEffect, Sendable {
    public let format: LPCMFormat

    /// What the last frame was multiplied by.
    public private(set) var gain: Float
    /// What gain goes to, or has come to: 0…1.
    public private(set) var target: Float
    private var step: Float = 0
    private var framesLeft = 0

    /// `gain` is of the amplitude, 0…1.
    public init(format: LPCMFormat, gain: Float = 1) {
        self.format = format
        self.gain = Self.kept(gain)
        target = self.gain
    }

    /// Goes to `gain`, 0…1, evenly over `duration`, which is 10 ms at the least. What is beyond 0 or 1 is brought to it.
    public mutating func fade(to gain: Float, over duration: Duration = .zero) {
        fade(to: gain, over: FrameCount(duration, at: format.rate))
    }

    /// The same, on an audio thread, too.
    @_noAllocation @_noLocks
    public mutating func fade(to gain: Float, over frames: FrameCount) {
        target = Self.kept(gain)
        framesLeft = max(max(frames.rawValue, format.rate.hertz / 100), 1)
        step = (target - self.gain) / Float(framesLeft)
    }

    public var isFading: Bool { @_noAllocation @_noLocks get { framesLeft > 0 } }

    @_noAllocation @_noLocks
    public mutating func apply(to samples: inout MutableSpan<Float>) {
        guard isFading || gain != 1 else { return }
        var index = 0
        while index + format.channelCount <= samples.count {
            if framesLeft > 0 {
                framesLeft -= 1
                gain = framesLeft == 0 ? target : gain + step
            }
            for _ in 0..<format.channelCount {
                samples[index] *= gain
                index += 1
            }
        }
    }

    /// As for a new beginning: a fade is over.
    public mutating func clear() { (gain, framesLeft) = (target, 0) }

    /// What is no number is silence.
    @_noAllocation @_noLocks
    private static func kept(_ gain: Float) -> Float { gain > 0 ? min(gain, 1) : 0 }
}
