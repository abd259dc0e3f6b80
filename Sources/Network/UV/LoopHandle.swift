import CUV

/// A handle of an `EventLoop`. It exists until `close()` or until its loop ends, even if no other object
/// holds it. Use it only on the loop's thread.
///
/// libuv requires a handle to stay at one address and calls back when it has closed the handle. So the loop retains the
/// object from `init` until the close callback, which also frees the handle's memory.
@safe public class LoopHandle {
    private let handle: UnsafeMutablePointer<uv_handle_t>

    /// Whether the handle is closed. None of its callbacks runs after closing.
    public private(set) final var isClosed = false

    /// Takes ownership of a handle that libuv has initialised in memory from `allocate`.
    init<Handle>(adopting handle: UnsafeMutablePointer<Handle>) {
        unsafe self.handle = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        unsafe self.handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    /// Closes the handle: no callback runs after this returns, not even one that was due. May be called from a
    /// callback, and more than once. The C function is `uv_close`.
    public final func close() {
        if isClosed { return }
        isClosed = true
        willClose()
        unsafe uv_close(handle, handleClosed)
    }

    /// Whether `EventLoop.run()` goes on while only this handle is left. Default: true. The C functions are `uv_ref`
    /// and `uv_unref`.
    public final var keepsLoopRunning: Bool {
        get { unsafe !isClosed && uv_has_ref(handle) != 0 }
        set {
            if isClosed { return }
            if newValue { unsafe uv_ref(handle) } else { unsafe uv_unref(handle) }
        }
    }

    /// Called when the handle is being closed. Releases the caller's closures, which often hold the handle.
    func willClose() {}

    /// Returns the object that owns the handle of a C callback.
    static func owner<Handle, Object: LoopHandle>(
        of handle: UnsafeMutablePointer<Handle>, as type: Object.Type
    ) -> Object {
        let handle = unsafe UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
        guard let data = unsafe handle.pointee.data else { preconditionFailure("a libuv handle without its object") }
        return unsafe Unmanaged<Object>.fromOpaque(data).takeUnretainedValue()
    }

    /// Allocates a handle and initialises it with a `uv_…_init` function. An error contains the name of that function.
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
