import CUV
import Glibc

/// Calls back while a terminal, pipe or socket can be read. The C type is `uv_poll_t`.
final class ReadableHandle: LoopHandle {
    private var readable: (() -> Void)?

    init(on loop: EventLoop, _ fileDescriptor: Int32, _ readable: @escaping () -> Void) throws(NetworkError) {
        // Restores the flags of the descriptor, because libuv makes it non-blocking. The descriptor is shared with the
        // shell that started us and often with stdout.
        let flags = fcntl(fileDescriptor, F_GETFL)
        defer { if flags >= 0 { _ = fcntl(fileDescriptor, F_SETFL, flags) } }

        let poll: UnsafeMutablePointer<uv_poll_t>
        do throws(NetworkError) {
            unsafe poll = try Self.initialised("uv_poll_init") { unsafe uv_poll_init(loop.loop, $0, fileDescriptor) }
        } catch {
            if error.code != EPERM { throw error }
            throw NetworkError(
                .alwaysReady(fileDescriptor: fileDescriptor), function: error.function, code: error.code)
        }
        self.readable = readable
        unsafe super.init(adopting: poll)
        let code = unsafe uv_poll_start(poll, Int32(UV_READABLE.rawValue), becameReadable)
        if code != 0 {
            close()
            throw NetworkError("uv_poll_start", code)
        }
    }

    override func willClose() { readable = nil }

    fileprivate func call() { readable?() }
}

@c private func becameReadable(_ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: Int32, _ events: Int32) {
    guard let poll = unsafe poll else { return }
    unsafe LoopHandle.owner(of: poll, as: ReadableHandle.self).call()
}
