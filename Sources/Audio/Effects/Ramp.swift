/// A gain that changes linearly, so that no change is heard as a click.
package struct Ramp: BitwiseCopyable, Sendable {
    package private(set) var value: Float
    package private(set) var target: Float
    /// The change of the gain per frame.
    private var step: Float = 0
    private var framesLeft = 0

    @_noAllocation @_noLocks
    package init(_ value: Float) {
        self.value = value
        target = value
    }

    package var isMoving: Bool { @_noAllocation @_noLocks get { framesLeft > 0 } }

    /// Begins a linear change of the gain to `target` over `frameCount` frames, at least one.
    @_noAllocation @_noLocks
    package mutating func begin(_ target: Float, frameCount: Int) {
        self.target = target
        framesLeft = max(frameCount, 1)
        step = (target - value) / Float(framesLeft)
    }

    @_noAllocation @_noLocks
    package mutating func advance() {
        guard framesLeft > 0 else { return }
        framesLeft -= 1
        value = framesLeft == 0 ? target : value + step
    }

    /// Multiplies each frame by the value that it moves to next.
    @_noAllocation @_noLocks
    mutating func multiply(_ samples: inout MutableSpan<Float>, channelCount: Int) {
        guard isMoving || value != 1 else { return }
        var index = 0
        while index + channelCount <= samples.count {
            advance()
            for _ in 0..<channelCount {
                samples[index] *= value
                index += 1
            }
        }
    }
}
