internal import Glibc
internal import TenfourAudioCore

/// Bytes that come once, in their order: a pipe, a terminal, a socket.
///
/// They are read as the reader asks for them. What is ahead of it stays with the kernel, whose pipe is made as large as it may
/// be, and whoever writes into it waits when it is full; so nothing here needs a thread.
@safe public final class PipeByteSource: ByteSource, @unchecked Sendable {
    private let descriptor: Int32
    /// The reader's.
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private let window: SharedWindow
    /// A byte in it ends a wait.
    private let alarm: (output: Int32, input: Int32)
    /// How much the kernel keeps of what is not read yet.
    private let pipeByteCount: Int

    /// Linux's `F_SETPIPE_SZ` and `F_GETPIPE_SZ`, which are extensions of GNU.
    private static let setPipeByteCount: Int32 = 1031
    private static let getPipeByteCount: Int32 = 1032
    /// What `/proc/sys/fs/pipe-max-size` allows everybody, unless somebody has changed it.
    private static let largestPipe = 1 << 20

    /// Takes over `descriptor`.
    init(_ descriptor: Int32, named path: String, limits: BufferLimits) throws(ByteSourceError) {
        var ends: (Int32, Int32) = (-1, -1)
        let code = unsafe withUnsafeMutableBytes(of: &ends) {
            unsafe pipe($0.baseAddress!.assumingMemoryBound(to: Int32.self))
        }
        guard code == 0 else {
            let reason = errno
            close(descriptor)
            throw .failed("no pipe could be made (\(text(of: reason))); raise the limit of open files with `ulimit -n`")
        }
        for end in [ends.0, ends.1] {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        alarm = ends
        self.descriptor = descriptor
        // Refused for what is no pipe, which is as it should be.
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
        close(alarm.input)
        close(alarm.output)
        unsafe room.deallocate()
    }

    public var state: ByteSourceState {
        var state = window.state
        var waiting: Int32 = 0
        if state.phase == .receiving, unsafe ioctl(descriptor, UInt(FIONREAD), &waiting) == 0, waiting > 0 {
            state.available = state.available.lowerBound..<state.available.upperBound + Int(waiting)
            state.held = state.held.lowerBound..<state.held.upperBound + Int(waiting)
        }
        // Whoever waits for more before it reads on is to know that no more comes: nobody writes any longer, or cannot until it
        // is read.
        if state.phase == .receiving {
            var file = pollfd(fd: descriptor, events: 0, revents: 0)
            if unsafe poll(&file, 1, 0) > 0, Int32(file.revents) & POLLHUP != 0 {
                state.phase = .ended
            } else if Int(waiting) > pipeByteCount / 2 {
                // It may be full with less than it could hold: two pages side by side hold more than one, and need not hold two.
                state.phase = .full
            }
        }
        return state
    }

    public var limits: BufferLimits {
        get { window.limits }
        set { window.limits = newValue }
    }

    /// The C functions are `poll` and `read`.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        while true {
            if let count = try unsafe window.readIfHere(at: offset, into: buffer) { return count }
            var waits = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: alarm.output, events: Int16(POLLIN), revents: 0),
            ]
            let ready = unsafe poll(&waits, nfds_t(waits.count), -1)
            if ready < 0 && errno != EINTR { throw failure(errno) }
            // An interrupted reader throws above.
            guard ready > 0, waits[1].revents == 0, waits[0].revents != 0 else { continue }
            let count = unsafe Glibc.read(descriptor, room.baseAddress, room.count)
            if count > 0 {
                try unsafe window.append(UnsafeRawBufferPointer(rebasing: room[..<count]))
            } else if count == 0 || errno == EIO {
                // EIO: the other end of a terminal is gone.
                window.finish()
            } else if errno != EINTR && errno != EAGAIN {
                throw failure(errno)
            }
        }
    }

    public func holdAll() { window.holdAll() }

    public func interrupt() {
        window.interrupt(true)
        ring()
    }

    public func resume() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while unsafe Glibc.read(alarm.output, &bytes, 16) > 0 {}
        window.interrupt(false)
    }

    /// Whoever writes waits.
    public func pause(_ isPaused: Bool) {}

    public func stop() {
        window.stop()
        ring()
    }

    private func ring() {
        var byte: UInt8 = 0
        _ = unsafe write(alarm.input, &byte, 1)
    }

    private func failure(_ code: Int32) -> ByteSourceError {
        .failed("the input broke off (\(text(of: code))); start whatever writes it again")
    }
}
