import CUV
import Synchronization

/// Lets any thread, also an audio thread, have a closure called on the thread of an `EventLoop`.
///
/// It may outlive its loop: once the loop has ended or closed it, a signal does nothing. Several signals may be answered by
/// one call, but a call always begins after the latest signal. The C type is `uv_async_t`.
@safe public final class Wakeup: Sendable {
    /// libuv's handle, which may be touched only between entering and leaving the gate.
    private nonisolated(unsafe) let async: UnsafeMutablePointer<uv_async_t>
    /// How many threads are inside `signal()`, and `shut` once the handle is given up.
    private let gate = Atomic<Int>(0)

    private static var shut: Int { Int.min / 2 }

    init(_ async: UnsafeMutablePointer<uv_async_t>) { unsafe self.async = async }

    /// Any thread. Does not wait, lock or allocate; costs one `write` to an eventfd when the loop is not yet due to wake.
    /// The C function is `uv_async_send`.
    @_noAllocation @_noLocks
    public func signal() {
        if gate.load(ordering: .relaxed) < 0 { return }
        // Acquiring: the send stays after the entry. Releasing: the loop sees the send done when it sees the gate empty.
        if gate.add(1, ordering: .acquiring).oldValue >= 0 { unsafe send(async) }
        gate.subtract(1, ordering: .releasing)
    }

    /// Loop thread. Returns when no thread will touch the handle any more, which takes as long as their `write`.
    func shutGate() {
        gate.add(Self.shut, ordering: .acquiringAndReleasing)
        // Sleeps rather than yields, so that a thread of lower priority inside the gate gets to leave it.
        while gate.load(ordering: .acquiring) != Self.shut { uv_sleep(1) }
    }

    /// The handle that the loop holds; nil once it is closed. Loop thread.
    func handle(of loop: EventLoop) -> WakeupHandle? {
        guard gate.load(ordering: .acquiring) >= 0 else { return nil }
        precondition(unsafe async.pointee.loop == loop.loop, "a wakeup was closed by a loop that is not its own")
        return unsafe LoopHandle.behind(async, as: WakeupHandle.self)
    }
}

/// The loop's end of a `Wakeup`.
final class WakeupHandle: LoopHandle {
    let wakeup: Wakeup
    private var woken: (() -> Void)?

    init(on loop: EventLoop, _ woken: @escaping () -> Void) throws(NetworkError) {
        let async = unsafe try Self.initialised("uv_async_init") { unsafe uv_async_init(loop.loop, $0, asyncWoken) }
        wakeup = unsafe Wakeup(async)
        self.woken = woken
        unsafe super.init(adopting: async)
    }

    override func willClose() {
        wakeup.shutGate()
        woken = nil
    }

    fileprivate func wake() { woken?() }
}

/// Vetted: two compare-and-swaps and a `write` of eight bytes, no lock, no allocation.
@_semantics("no_performance_analysis")
private func send(_ async: UnsafeMutablePointer<uv_async_t>) {
    unsafe uv_async_send(async)
}

@c private func asyncWoken(_ async: UnsafeMutablePointer<uv_async_t>?) {
    guard let async = unsafe async else { return }
    unsafe LoopHandle.behind(async, as: WakeupHandle.self).wake()
}
