import CUV
import Glibc

/// Calls back once the kernel accepts datagrams again. The C type is `uv_poll_t`.
///
/// Watches a duplicate of the socket's descriptor, because libuv allows one watcher for each descriptor and already
/// watches the socket's own.
@safe final class WritableHandle: LoopHandle {
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private let duplicate: Int32
    private var writable: (() -> Void)?
    private var isWaiting = false

    init(on loop: EventLoop, _ fileDescriptor: Int32, _ writable: @escaping () -> Void) throws(NetworkError) {
        let duplicate = fcntl(fileDescriptor, F_DUPFD_CLOEXEC, 0)
        if duplicate < 0 { throw NetworkError("fcntl(F_DUPFD_CLOEXEC)", -errno) }
        do throws(NetworkError) {
            unsafe poll = try Self.initialised("uv_poll_init") { unsafe uv_poll_init(loop.loop, $0, duplicate) }
        } catch {
            _ = Glibc.close(duplicate)
            throw error
        }
        self.duplicate = duplicate
        self.writable = writable
        unsafe super.init(adopting: poll)
    }

    /// Requests one callback; further calls before the callback cost nothing. The C function is `uv_poll_start`.
    func wait() {
        if isClosed || isWaiting { return }
        isWaiting = true
        let code = unsafe uv_poll_start(poll, Int32(UV_WRITABLE.rawValue), becameWritable)
        precondition(code == 0, "a socket that is open could not be watched")
    }

    override func willClose() {
        writable = nil
        unsafe uv_poll_stop(poll)
        _ = Glibc.close(duplicate)
    }

    fileprivate func call() {
        isWaiting = false
        unsafe uv_poll_stop(poll)
        writable?()
    }
}

@c private func becameWritable(_ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: Int32, _ events: Int32) {
    guard let poll = unsafe poll else { return }
    unsafe LoopHandle.owner(of: poll, as: WritableHandle.self).call()
}
