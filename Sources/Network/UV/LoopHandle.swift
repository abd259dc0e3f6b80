import CUV

/// Something that an `EventLoop` waits for. It lives until `close()` or until its loop ends, also when nobody else holds it.
/// To be used on the thread of its loop only.
///
/// libuv wants a handle to stay at one address and closes it in its own time, hence the one class with a life of manual
/// length: the loop holds it from `init` until the close callback, and its memory goes with that callback.
@safe public class LoopHandle {
    private let handle: UnsafeMutablePointer<uv_handle_t>

    /// No callback runs any more.
    public private(set) final var isClosed = false

    /// Takes over a handle that libuv has initialised in memory that `allocate` made.
    init<Handle>(adopting handle: UnsafeMutablePointer<Handle>) {
        unsafe self.handle = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        unsafe self.handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    /// Stops waiting, at once and for good: no callback runs after this returns, not even one that was due.
    /// May be called from a callback, and twice. The C function is `uv_close`.
    public final func close() {
        if isClosed { return }
        isClosed = true
        willClose()
        unsafe uv_close(handle, handleClosed)
    }

    /// Whether the loop goes on running for the sake of this handle alone; true unless set otherwise.
    /// The C functions are `uv_ref` and `uv_unref`.
    public final var keepsLoopRunning: Bool {
        get { unsafe !isClosed && uv_has_ref(handle) != 0 }
        set {
            if isClosed { return }
            if newValue { unsafe uv_ref(handle) } else { unsafe uv_unref(handle) }
        }
    }

    /// Lets go of the caller's closures, which often hold the handle.
    func willClose() {}

    /// The object that a C callback's handle belongs to.
    static func behind<Handle, Object: LoopHandle>(
        _ handle: UnsafeMutablePointer<Handle>, as type: Object.Type
    ) -> Object {
        let handle = unsafe UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        guard let data = unsafe handle.pointee.data else { preconditionFailure("a libuv handle without its object") }
        return unsafe Unmanaged<Object>.fromOpaque(data).takeUnretainedValue()
    }

    /// Room for a handle, filled by a `uv_…_init` function, whose name the error carries.
    static func initialised<Handle>(
        _ function: String, _ initialise: (UnsafeMutablePointer<Handle>) -> Int32
    ) throws(NetworkError) -> UnsafeMutablePointer<Handle> {
        let handle = UnsafeMutablePointer<Handle>.allocate(capacity: 1)
        let code = unsafe initialise(handle)
        guard code == 0 else {
            unsafe handle.deallocate()
            throw NetworkError(function, code)
        }
        return unsafe handle
    }
}

@c private func handleClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
    guard let handle = unsafe handle, let data = unsafe handle.pointee.data else { return }
    unsafe Unmanaged<LoopHandle>.fromOpaque(data).release()
    unsafe handle.deallocate()
}
