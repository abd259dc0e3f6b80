import CUV
public import TenfourAudioCore

/// Waits for datagrams, deadlines, signals, the keyboard and other threads, and calls the callbacks for them.
///
/// Made and used on one thread, the one that calls `run()`; only a `Wakeup` may be touched from elsewhere.
/// What it waits for lives until it is closed or until the loop is deinitialised, whichever comes first;
/// after that no callback runs. A callback that holds the loop therefore holds it for ever: write `[unowned loop]`, or call
/// `closeAll()` when the work is done. The C type is `uv_loop_t`.
@safe public final class EventLoop {
    let loop: UnsafeMutablePointer<uv_loop_t>
    private var lookups: [Lookup] = []
    private var isRunning = false

    /// The C function is `uv_loop_init`. Fails when too many files are open.
    public init() throws(NetworkError) {
        let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let code = unsafe uv_loop_init(loop)
        guard code == 0 else {
            unsafe loop.deallocate()
            throw NetworkError("uv_loop_init", code)
        }
        unsafe self.loop = loop
    }

    /// Closes what is left. Waits for a name lookup that the system has begun, as that cannot be taken back.
    deinit {
        closeAll()
        while unsafe uv_run(loop, UV_RUN_DEFAULT) != 0 {}
        let code = unsafe uv_loop_close(loop)
        precondition(code == 0, "a libuv handle outlived its loop")
        unsafe loop.deallocate()
    }

    /// The moment, read afresh from CLOCK_MONOTONIC. The C function is `uv_hrtime`.
    public var now: Instant { Instant(nanoseconds: Int64(clamping: uv_hrtime())) }

    /// Waits and calls back until `stop()`, or until nothing is left to wait for. Not to be called from a callback.
    /// The C function is `uv_run`.
    public func run() {
        precondition(!isRunning, "run() was called from a callback of the loop")
        isRunning = true
        defer { isRunning = false }
        _ = unsafe uv_run(loop, UV_RUN_DEFAULT)
    }

    /// Makes `run()` return when the callbacks that are due have run; before `run()`, makes it return at once.
    /// From another thread, signal a `Wakeup` whose callback calls this. The C function is `uv_stop`.
    public func stop() { unsafe uv_stop(loop) }

    /// A timer that is not armed yet.
    public func makeTimer(_ fire: @escaping () -> Void) throws(NetworkError) -> LoopTimer {
        try LoopTimer(on: self, fire)
    }

    /// A way for other threads to have `woken` called on the thread of this loop.
    public func makeWakeup(_ woken: @escaping () -> Void) throws(NetworkError) -> Wakeup {
        try WakeupHandle(on: self, woken).wakeup
    }

    /// Ends a wakeup before its loop ends. Later signals do nothing, and one that has not been seen yet is forgotten.
    public func close(_ wakeup: Wakeup) { wakeup.handle(of: self)?.close() }

    /// Calls `caught` on the thread of this loop after the process has received the signal `number`, instead of what the
    /// signal would have done. Several that come together may be seen as one. The C function is `uv_signal_start`.
    public func onSignal(_ number: Int32, _ caught: @escaping () -> Void) throws(NetworkError) -> LoopHandle {
        try SignalHandle(on: self, number, caught)
    }

    /// Calls `readable` whenever a `read` from a terminal, pipe or socket would not block: there are bytes, it has ended,
    /// or it has failed, as the `read` will tell. Called again and again until the bytes are read.
    ///
    /// The descriptor stays the caller's, who keeps it open until the handle is closed, and stays blocking if it was.
    /// Throws `.alwaysReady` for a regular file. The C function is `uv_poll_start`.
    public func onReadable(
        _ fileDescriptor: Int32, _ readable: @escaping () -> Void
    ) throws(NetworkError) -> LoopHandle {
        try ReadableHandle(on: self, fileDescriptor, readable)
    }

    /// Closes everything that this loop waits for and lets go of all callbacks. `run()` then returns, and more may be made.
    public func closeAll() {
        for lookup in lookups { lookup.cancel() }
        unsafe uv_walk(loop, closeHandle, nil)
    }

    func keep(_ lookup: Lookup) { lookups.append(lookup) }

    func forget(_ lookup: Lookup) { lookups.removeAll { $0 === lookup } }
}

@c private func closeHandle(_ handle: UnsafeMutablePointer<uv_handle_t>?, _: UnsafeMutableRawPointer?) {
    guard let handle = unsafe handle else { return }
    unsafe LoopHandle.behind(handle, as: LoopHandle.self).close()
}
