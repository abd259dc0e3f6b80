import CUV
public import TenfourAudioCore

/// Waits for datagrams, deadlines, signals, the keyboard and other threads, and runs the callbacks for them.
///
/// Create and use it on the thread that calls `run()`; only a `Wakeup` may be used from other threads. Its handles
/// exist until they are closed or until the loop is deinitialised, whichever comes first; after that no callback runs.
/// A callback that holds the loop keeps it alive for ever: write `[unowned loop]`, or call `closeAll()` when the work
/// is done. The C type is `uv_loop_t`.
@safe public final class EventLoop {
    let loop: UnsafeMutablePointer<uv_loop_t>
    private var lookups: [Lookup] = []
    private var isRunning = false

    /// Creates a loop. Throws if too many files are open. The C function is `uv_loop_init`.
    public init() throws(NetworkError) {
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let code = unsafe uv_loop_init(loop)
        guard code == 0 else {
            unsafe loop.deallocate()
            throw NetworkError("uv_loop_init", code)
        }
        unsafe self.loop = loop
    }

    /// Closes the remaining handles. Blocks while the system finishes a name lookup, because a running lookup cannot be
    /// cancelled.
    deinit {
        closeAll()
        while unsafe uv_run(loop, UV_RUN_DEFAULT) != 0 {}
        let code = unsafe uv_loop_close(loop)
        precondition(code == 0, "a libuv handle outlived its loop")
        unsafe loop.deallocate()
    }

    /// The present time by CLOCK_MONOTONIC, read at each call. The C function is `uv_hrtime`.
    public var now: Instant { Instant(nanoseconds: Int64(clamping: uv_hrtime())) }

    /// Waits and runs callbacks until `stop()`, or until no handle is left to wait for. Must not be called from a
    /// callback. The C function is `uv_run`.
    public func run() {
        precondition(!isRunning, "run() was called from a callback of the loop")
        isRunning = true
        defer { isRunning = false }
        _ = unsafe uv_run(loop, UV_RUN_DEFAULT)
    }

    /// Makes `run()` return when the callbacks that are due have run; if called before `run()`, makes it return
    /// immediately. From another thread, signal a `Wakeup` whose callback calls this. The C function is `uv_stop`.
    public func stop() { unsafe uv_stop(loop) }

    /// Creates a timer that is not armed yet.
    public func makeTimer(_ fire: @escaping () -> Void) throws(NetworkError) -> LoopTimer {
        try LoopTimer(on: self, fire)
    }

    /// Creates a wake-up. When another thread signals it, `handler` is called on the thread of this loop.
    public func makeWakeup(_ handler: @escaping () -> Void) throws(NetworkError) -> Wakeup {
        try WakeupHandle(on: self, handler).wakeup
    }

    /// Closes a wake-up before its loop ends. Later signals have no effect, and a signal that the loop has not handled
    /// yet is lost.
    public func close(_ wakeup: Wakeup) { wakeup.handle(of: self)?.close() }

    /// Calls `caught` on the thread of this loop after the process has received the signal `number`, instead of the
    /// signal's default action. Several signals in a short time may cause one call. The C function is
    /// `uv_signal_start`.
    public func onSignal(_ number: Int32, _ caught: @escaping () -> Void) throws(NetworkError) -> LoopHandle {
        try SignalHandle(on: self, number, caught)
    }

    /// Calls `readable` whenever a `read` from a terminal, pipe or socket would not block: bytes are available, the end
    /// is reached, or the `read` fails. The call is repeated until the bytes are read.
    ///
    /// The caller owns the descriptor, keeps it open until the handle is closed, and finds its blocking mode unchanged.
    /// Throws `.alwaysReady` for a regular file. The C function is `uv_poll_start`.
    public func onReadable(
        _ fileDescriptor: Int32, _ readable: @escaping () -> Void
    ) throws(NetworkError) -> LoopHandle {
        try ReadableHandle(on: self, fileDescriptor, readable)
    }

    /// Closes all handles of this loop and releases their callbacks. `run()` then returns; new handles may be created.
    public func closeAll() {
        for lookup in lookups { lookup.cancel() }
        unsafe uv_walk(loop, closeHandle, nil)
    }

    func keep(_ lookup: Lookup) { lookups.append(lookup) }

    func forget(_ lookup: Lookup) { lookups.removeAll { $0 === lookup } }
}

@c private func closeHandle(_ handle: UnsafeMutablePointer<uv_handle_t>?, _: UnsafeMutableRawPointer?) {
    guard let handle = unsafe handle else { return }
    unsafe LoopHandle.owner(of: handle, as: LoopHandle.self).close()
}
