import CUV
import Synchronization

/// Lets any thread, including an audio thread, cause the call of a closure on the thread of an `EventLoop`.
///
/// It may outlive its loop: once the loop has ended or the wake-up is closed, a signal has no effect. Several signals
/// may cause one call, but a call always begins after the latest signal. The C type is `uv_async_t`.
@safe public final class Wakeup: Sendable {
    /// libuv's handle. A thread may access it only while `gate` counts the thread.
    private nonisolated(unsafe) let async: UnsafeMutablePointer<uv_async_t>
    /// The number of threads that are inside `signal()` and may access the handle. Negative once the handle is being
    /// closed: from then on no further thread may access it.
    private let gate = Atomic<Int>(0)

    private static var shut: Int { Int.min / 2 }

    init(_ async: UnsafeMutablePointer<uv_async_t>) { unsafe self.async = async }

    /// Causes a call of the closure. May be called on any thread. Does not block, lock or allocate. It costs one
    /// `write` to an eventfd, or nothing if a wake-up is pending already. The C function is `uv_async_send`.
    @_noAllocation @_noLocks
    public func signal() {
        if gate.load(ordering: .relaxed) < 0 { return }
        // Counts this thread as one that accesses the handle. The acquiring increment keeps the send after it. The
        // releasing decrement keeps the send before it, so the send is complete once the loop's thread sees that the
        // number of threads is zero.
        if gate.add(1, ordering: .acquiring).oldValue >= 0 { unsafe send(async) }
        gate.subtract(1, ordering: .releasing)
    }

    /// Forbids access to the handle, and waits until no thread is inside `signal()`. Afterwards no thread accesses the
    /// handle. The wait is as short as the `write` of a thread in `signal()`. Use it on the loop's thread only.
    func shutGate() {
        gate.add(Self.shut, ordering: .acquiringAndReleasing)
        // Sleeps instead of yielding, so that a thread of lower priority can run and leave `signal()`.
        while gate.load(ordering: .acquiring) != Self.shut { uv_sleep(1) }
    }

    /// The loop's handle of this wake-up; nil once the handle is closed. Use it on the loop's thread only.
    func handle(of loop: EventLoop) -> WakeupHandle? {
        guard gate.load(ordering: .acquiring) >= 0 else { return nil }
        precondition(unsafe async.pointee.loop == loop.loop, "a wakeup was closed by a loop that is not its own")
        return unsafe LoopHandle.owner(of: async, as: WakeupHandle.self)
    }
}

/// The handle of a `Wakeup` in its loop.
final class WakeupHandle: LoopHandle {
    let wakeup: Wakeup
    private var handler: (() -> Void)?

    init(on loop: EventLoop, _ handler: @escaping () -> Void) throws(NetworkError) {
        let async = unsafe try Self.initialised("uv_async_init") { unsafe uv_async_init(loop.loop, $0, asyncSignalled) }
        wakeup = unsafe Wakeup(async)
        self.handler = handler
        unsafe super.init(adopting: async)
    }

    override func willClose() {
        wakeup.shutGate()
        handler = nil
    }

    fileprivate func callHandler() { handler?() }
}

/// The compiler does not check this C call; we have reviewed it: two compare-and-swaps and a `write` of eight bytes, no
/// lock and no allocation.
@_semantics("no_performance_analysis")
private func send(_ async: UnsafeMutablePointer<uv_async_t>) {
    unsafe uv_async_send(async)
}

@c private func asyncSignalled(_ async: UnsafeMutablePointer<uv_async_t>?) {
    guard let async = unsafe async else { return }
    unsafe LoopHandle.owner(of: async, as: WakeupHandle.self).callHandler()
}
