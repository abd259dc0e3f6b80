internal import Glibc
internal import TenfourAudioCore
internal import TenfourSystem

/// Reads bytes that arrive once and in order: from a pipe, a terminal or a socket.
///
/// Bytes are read on demand, so no thread is needed. Bytes ahead of the reader stay in the kernel's pipe buffer, which
/// is enlarged to its limit. When this buffer is full, the writer blocks.
@safe public final class PipeByteSource: ByteSource, @unchecked Sendable {
    private let descriptor: Int32
    /// The buffer into which `read` receives bytes from the kernel. Only the reader's thread uses it.
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private let window: SharedWindow
    /// Ends a wait in `read` when the source is interrupted or stopped.
    private let wakeup: WakeupPipe
    /// The size of the kernel's pipe buffer, in bytes.
    private let pipeByteCount: Int

    /// Linux's `F_SETPIPE_SZ`, an extension of GNU.
    private static let setPipeByteCount: Int32 = 1031
    /// Linux's `F_GETPIPE_SZ`, an extension of GNU.
    private static let getPipeByteCount: Int32 = 1032
    /// The largest size to request for the kernel's pipe buffer, in bytes: the default of `/proc/sys/fs/pipe-max-size`.
    private static let largestPipe = 1 << 20

    /// Creates a source that owns `descriptor` and closes it.
    init(_ descriptor: Int32, named path: String, limits: BufferLimits) throws(ByteSourceError) {
        do throws(WakeupPipeError) {
            wakeup = try WakeupPipe()
        } catch {
            close(descriptor)
            throw .failed(
                "a pipe cannot be created (\(text(of: error.code))); raise the limit of open files with `ulimit -n`",
                kind: .resourcesExhausted)
        }
        self.descriptor = descriptor
        // The call has no effect if `descriptor` is not a pipe.
        _ = fcntl(descriptor, Self.setPipeByteCount, Int32(min(limits.ahead, Self.largestPipe)))
        let granted = fcntl(descriptor, Self.getPipeByteCount)
        pipeByteCount = granted > 0 ? Int(granted) : .max
        window = SharedWindow(
            ByteSourceState(
                phase: .receiving, isLive: true, resource: path == "-" ? .standardInput : .file(path: path)),
            limits: limits)
    }

    deinit {
        close(descriptor)
        unsafe room.deallocate()
    }

    public var state: ByteSourceState {
        var state = window.state
        var waiting: Int32 = 0
        if state.phase == .receiving, unsafe ioctl(descriptor, UInt(FIONREAD), &waiting) == 0, waiting > 0 {
            state.available = state.available.lowerBound..<state.available.upperBound + Int(waiting)
            state.held = state.held.lowerBound..<state.held.upperBound + Int(waiting)
        }
        // Tells a reader that waits for more bytes that none will arrive: no writer is left, or the pipe is full until
        // it is read.
        if state.phase == .receiving {
            var file = pollfd(fd: descriptor, events: 0, revents: 0)
            if unsafe poll(&file, 1, 0) > 0, Int32(file.revents) & POLLHUP != 0 {
                state.phase = .ended
            } else if Int(waiting) > pipeByteCount / 2 {
                // Counts a pipe that is more than half full as full. It may hold fewer bytes than its size, since
                // adjacent pages are not always merged.
                state.phase = .full
            }
        }
        return state
    }

    public var limits: BufferLimits {
        get { window.limits }
        set { window.limits = newValue }
    }

    /// Implements `ByteSource.read`. The C functions are `poll` and `read`.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        while true {
            if let count = try unsafe window.readIfHere(at: offset, into: buffer) { return count }
            var waits = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let ready = unsafe poll(&waits, nfds_t(waits.count), -1)
            if ready < 0 && errno != EINTR { throw failure(errno) }
            // After an interruption the next `readIfHere` throws.
            guard ready > 0, waits[1].revents == 0, waits[0].revents != 0 else { continue }
            let count = unsafe Glibc.read(descriptor, room.baseAddress, room.count)
            if count > 0 {
                try unsafe window.append(UnsafeRawBufferPointer(rebasing: room[..<count]))
            } else if count == 0 || errno == EIO {
                // Treats EIO as the end, since it means that the other end of the terminal was closed.
                window.finish()
            } else if errno != EINTR && errno != EAGAIN {
                throw failure(errno)
            }
        }
    }

    public func holdAll() { window.holdAll() }

    public func interrupt() {
        window.interrupt(true)
        wakeup.signal()
    }

    public func resume() {
        wakeup.clear()
        window.interrupt(false)
    }

    /// Does nothing: the writer blocks when the pipe is full.
    public func pause(_ isPaused: Bool) {}

    public func stop() {
        window.stop()
        wakeup.signal()
    }

    private func failure(_ code: Int32) -> ByteSourceError {
        .failed(
            "the input failed (\(text(of: code))); restart the program that writes it",
            kind: MediaErrorKind(errno: code))
    }
}
