import CUV
import Glibc
import TenfourSystem

/// A Unix socket at a path. It sends one answer to each client that connects, and closes the connection. Only processes
/// of its owner may connect.
///
/// Use it on the loop's thread only. It reads nothing from clients and serves eight at a time: a ninth client replaces
/// the oldest. Creating a socket makes the process ignore SIGPIPE, because libuv would otherwise let a client that
/// disconnects end the process. The C type is `uv_pipe_t`.
@safe public final class LocalSocket: LoopHandle {
    private let pipe: UnsafeMutablePointer<uv_pipe_t>
    private unowned let loop: EventLoop
    private var answer: (() -> [UInt8])?
    private var callers: [StatusClient] = []

    private static let maximumCallerCount = 8
    /// The maximum length of a path in bytes: 107.
    public static let maximumPathByteCount = UnixSocketAddress.maximumPathByteCount

    /// Listens at `path` and replaces the socket file of a process that has ended; `answer` is called for each client.
    /// Throws `EADDRINUSE` if another process listens at `path`. The C functions are `uv_pipe_bind` and `uv_listen`.
    public init(on loop: EventLoop, listeningAt path: String, answer: @escaping () -> [UInt8]) throws(NetworkError) {
        // Throws for a path that is too long, because libuv would truncate it.
        guard let address = UnixSocketAddress(path: path) else { throw NetworkError("uv_pipe_bind", -ENAMETOOLONG) }
        do throws(UnixSocketError) {
            try address.removeLeftover()
        } catch {
            throw NetworkError("uv_pipe_bind", -error.code)
        }
        _ = signal(SIGPIPE, SIG_IGN)
        let pipe = unsafe try Self.initialised("uv_pipe_init") { unsafe uv_pipe_init(loop.loop, $0, 0) }
        unsafe self.pipe = pipe
        self.loop = loop
        self.answer = answer
        unsafe super.init(adopting: pipe)
        let mask = umask(0o177)
        var code = unsafe uv_pipe_bind(pipe, path)
        umask(mask)
        var function = "uv_pipe_bind"
        if code == 0 {
            function = "uv_listen"
            code = unsafe uv_listen(
                UnsafeMutableRawPointer(pipe).assumingMemoryBound(to: uv_stream_t.self), 8, connected)
        }
        guard code == 0 else {
            close()
            throw NetworkError(function, code)
        }
    }

    override func willClose() {
        answer = nil
        for caller in callers { caller.close() }
        callers = []
    }

    fileprivate func accept() {
        guard let answer, let caller = try? StatusClient(on: loop) else { return }
        guard unsafe caller.accept(from: UnsafeMutableRawPointer(pipe).assumingMemoryBound(to: uv_stream_t.self)) else {
            return caller.close()
        }
        callers.removeAll(where: \.isClosed)
        if callers.count >= Self.maximumCallerCount { callers.removeFirst().close() }
        callers.append(caller)
        caller.send(answer())
    }
}

/// A connected client.
@safe private final class StatusClient: LoopHandle {
    private let pipe: UnsafeMutablePointer<uv_pipe_t>
    private let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
    private var bytes: UnsafeMutableBufferPointer<CChar>?

    init(on loop: EventLoop) throws(NetworkError) {
        let pipe = unsafe try Self.initialised("uv_pipe_init") { unsafe uv_pipe_init(loop.loop, $0, 0) }
        unsafe self.pipe = pipe
        unsafe super.init(adopting: pipe)
    }

    deinit {
        unsafe request.deallocate()
        unsafe bytes?.deallocate()
    }

    private var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe UnsafeMutableRawPointer(pipe).assumingMemoryBound(to: uv_stream_t.self)
    }

    func accept(from listener: UnsafeMutablePointer<uv_stream_t>) -> Bool { unsafe uv_accept(listener, stream) == 0 }

    /// Sends `answer`, then closes the connection. The C function is `uv_write`.
    func send(_ answer: [UInt8]) {
        let bytes = UnsafeMutableBufferPointer<CChar>.allocate(capacity: answer.count)
        for index in answer.indices { unsafe bytes[index] = CChar(bitPattern: answer[index]) }
        unsafe self.bytes = bytes
        var buffer = unsafe uv_buf_init(bytes.baseAddress, UInt32(answer.count))
        if unsafe uv_write(request, stream, &buffer, 1, answerWritten) != 0 { close() }
    }
}

// MARK: Client

extension LocalSocket {
    /// Connects to the socket at `path` and returns all bytes that it sends, at most `maximumByteCount`. Blocks. Throws
    /// `ENOENT` or `ECONNREFUSED` if no process listens, and `EAGAIN` after `patience` seconds without a byte.
    public static func ask(
        _ path: String, maximumByteCount: Int = 64 << 20, patience: Int = 5
    ) throws(NetworkError) -> [UInt8] {
        guard let address = UnixSocketAddress(path: path) else { throw NetworkError("connect", -ENAMETOOLONG) }
        let descriptor: Int32
        do throws(UnixSocketError) {
            descriptor = try address.connect(isBlocking: true)
        } catch {
            throw NetworkError(error.call.rawValue, -error.code)
        }
        defer { Glibc.close(descriptor) }
        var patience = timeval(tv_sec: patience, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < maximumByteCount {
            let count = unsafe Glibc.read(descriptor, &room, room.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw NetworkError("read", -errno) }
            if count == 0 { break }
            bytes += room[..<count]
        }
        return bytes
    }
}

@c private func connected(_ stream: UnsafeMutablePointer<uv_stream_t>?, _ status: Int32) {
    guard let stream = unsafe stream, status == 0 else { return }
    unsafe LoopHandle.owner(of: stream, as: LocalSocket.self).accept()
}

@c private func answerWritten(_ request: UnsafeMutablePointer<uv_write_t>?, _: Int32) {
    guard let request = unsafe request, let stream = unsafe request.pointee.handle else { return }
    unsafe LoopHandle.owner(of: stream, as: LoopHandle.self).close()
}
