/// A gain on its way to where it is wanted, in a straight line, so that no change of it is heard as a click.
package struct Ramp: BitwiseCopyable, Sendable {
    package private(set) var value: Float
    package private(set) var target: Float
    /// A frame.
    private var step: Float = 0
    private var framesLeft = 0

    @_noAllocation @_noLocks
    package init(_ value: Float) {
        self.value = value
        target = value
    }

    package var isMoving: Bool { @_noAllocation @_noLocks get { framesLeft > 0 } }

    /// From the present value on, in so many frames, one at the least.
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
}
