import CUV
import Synchronization

/// Lets any thread, including an audio thread, have a closure called on the thread of an `EventLoop`.
///
/// It may outlive its loop: once the loop has ended or closed it, a signal does nothing. Several signals may cause one
/// call, but a call always begins after the latest signal. The C type is `uv_async_t`.
@safe public final class Wakeup: Sendable {
    /// libuv's handle. It may be touched only between entering and leaving the gate.
    private nonisolated(unsafe) let async: UnsafeMutablePointer<uv_async_t>
    /// The number of threads inside `signal()`; `shut` once the handle is closed.
    private let gate = Atomic<Int>(0)

    private static var shut: Int { Int.min / 2 }

    init(_ async: UnsafeMutablePointer<uv_async_t>) { unsafe self.async = async }

    /// Any thread. Does not block, lock or allocate; costs one `write` to an eventfd unless a wake-up is pending
    /// already. The C function is `uv_async_send`.
    @_noAllocation @_noLocks
    public func signal() {
        if gate.load(ordering: .relaxed) < 0 { return }
        // Acquiring keeps the send behind the entry. Releasing lets the loop see the send as done when it sees the gate
        // empty.
        if gate.add(1, ordering: .acquiring).oldValue >= 0 { unsafe send(async) }
        gate.subtract(1, ordering: .releasing)
    }

    /// Loop thread. Returns when no thread will touch the handle any more. That takes as long as their `write`.
    func shutGate() {
        gate.add(Self.shut, ordering: .acquiringAndReleasing)
        // Sleeps instead of yielding, so that a thread of lower priority inside the gate can run and leave it.
        while gate.load(ordering: .acquiring) != Self.shut { uv_sleep(1) }
    }

    /// The loop's handle; nil once it is closed. Loop thread.
    func handle(of loop: EventLoop) -> WakeupHandle? {
        guard gate.load(ordering: .acquiring) >= 0 else { return nil }
        precondition(unsafe async.pointee.loop == loop.loop, "a wakeup was closed by a loop that is not its own")
        return unsafe LoopHandle.owner(of: async, as: WakeupHandle.self)
    }
}

/// The loop's side of a `Wakeup`.
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

/// Reviewed: two compare-and-swaps and a `write` of eight bytes; no lock, no allocation.
@_semantics("no_performance_analysis")
private func send(_ async: UnsafeMutablePointer<uv_async_t>) {
    unsafe uv_async_send(async)
}

@c private func asyncSignalled(_ async: UnsafeMutablePointer<uv_async_t>?) {
    guard let async = unsafe async else { return }
    unsafe LoopHandle.owner(of: async, as: WakeupHandle.self).callHandler()
}
