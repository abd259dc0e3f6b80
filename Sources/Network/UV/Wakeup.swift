import CUV
import Glibc
import Synchronization

/// Lets any thread, including an audio thread, cause the call of a closure on the thread of an `EventLoop`.
///
/// It may outlive its loop: once the loop has ended or the wake-up is closed, a signal has no effect. Several signals
/// may cause one call, but a call always begins after the latest signal. The C function is `eventfd`.
///
/// It is not libuv's `uv_async_t`: up to libuv 1.44, a loop whose thread has real-time priority spins in
/// `uv__async_spin` until the signalling thread has left `uv_async_send`. A signalling thread of lower priority may not
/// run meanwhile, until the kernel stops the loop's thread after 950 ms.
@safe public final class Wakeup: Sendable {
    private let descriptor: Int32
    /// Whether the descriptor was written and the loop has not called yet.
    private let isPending = Atomic(false)
    /// Only for the loop's thread; nil once the handle is closed.
    fileprivate nonisolated(unsafe) weak var handle: WakeupHandle?

    fileprivate init() throws(NetworkError) {
        descriptor = tenfour_eventfd()
        if descriptor < 0 { throw NetworkError("eventfd", -errno) }
    }

    deinit { Glibc.close(descriptor) }

    /// Causes a call of the closure. May be called on any thread. Does not block, lock or allocate. It costs one
    /// `write` to an eventfd, or nothing if a wake-up is pending already.
    @_noAllocation @_noLocks
    public func signal() {
        if isPending.exchange(true, ordering: .acquiringAndReleasing) { return }
        writeOne(to: descriptor)
    }

    /// Forgets the signals so far.
    fileprivate func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor, &count, 8)
        // A signal before this causes no `write`, and the call that follows begins after it.
        _ = isPending.exchange(false, ordering: .acquiringAndReleasing)
    }

    /// The loop's handle of this wake-up; nil once the handle is closed. Use it on the loop's thread only.
    func handle(of loop: EventLoop) -> WakeupHandle? {
        guard let handle = unsafe handle else { return nil }
        precondition(handle.belongs(to: loop), "a wakeup was closed by a loop that is not its own")
        return handle
    }

    fileprivate func poll(on loop: EventLoop) throws(NetworkError) -> UnsafeMutablePointer<uv_poll_t> {
        unsafe try LoopHandle.initialised("uv_poll_init") { unsafe uv_poll_init(loop.loop, $0, descriptor) }
    }
}

/// The handle of a `Wakeup` in its loop.
@safe final class WakeupHandle: LoopHandle {
    let wakeup: Wakeup
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private var handler: (() -> Void)?

    init(on loop: EventLoop, _ handler: @escaping () -> Void) throws(NetworkError) {
        wakeup = try Wakeup()
        unsafe poll = try wakeup.poll(on: loop)
        self.handler = handler
        unsafe super.init(adopting: poll)
        unsafe wakeup.handle = self
        let code = unsafe uv_poll_start(poll, Int32(UV_READABLE.rawValue), eventWritten)
        if code != 0 {
            close()
            throw NetworkError("uv_poll_start", code)
        }
    }

    func belongs(to loop: EventLoop) -> Bool { unsafe poll.pointee.loop == loop.loop }

    override func willClose() {
        unsafe wakeup.handle = nil
        handler = nil
    }

    fileprivate func call() {
        wakeup.clear()
        handler?()
    }
}

/// The compiler does not check this C call; we have reviewed it: a `write` of eight bytes, no lock and no allocation.
/// The counter of the eventfd is at most 1, so the `write` does not fail.
@_semantics("no_performance_analysis")
private func writeOne(to descriptor: Int32) {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, 8)
}

@c private func eventWritten(_ poll: UnsafeMutablePointer<uv_poll_t>?, _: Int32, _: Int32) {
    guard let poll = unsafe poll else { return }
    unsafe LoopHandle.owner(of: poll, as: WakeupHandle.self).call()
}
