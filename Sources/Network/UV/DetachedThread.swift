internal import Glibc

/// A thread that does one thing, for as long as the system makes it wait, and is gone. Nobody waits for it.
public enum DetachedThread {
    /// Calls `body` once, on a thread of its own. Throws, and has not called it, when the system has no thread to give. The C
    /// function is `pthread_create`.
    public static func run(_ body: @escaping @Sendable () -> Void) throws(NetworkError) {
        let body = unsafe Unmanaged.passRetained(DetachedThreadBody(body))
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, nil, runDetachedThread, body.toOpaque())
        guard code == 0 else {
            unsafe body.release()
            throw NetworkError(.refused, function: "pthread_create", code: code)
        }
        pthread_detach(thread)
    }
}

private final class DetachedThreadBody: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

@c private func runDetachedThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument = unsafe argument {
        unsafe Unmanaged<DetachedThreadBody>.fromOpaque(argument).takeRetainedValue().body()
    }
    return nil
}
