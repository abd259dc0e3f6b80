internal import CLinux
internal import Glibc

/// Lets any thread wake one waiting thread. The C functions are `pipe` and `poll`.
package final class WakeupPipe: Sendable {
    /// The descriptor to `poll` together with others. It is readable from `signal` until `clear`.
    package let descriptor: Int32
    private let writingEnd: Int32

    /// Creates the pipe. Throws the errno if too many files are open.
    package init() throws(WakeupPipeError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw WakeupPipeError(code: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writingEnd) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writingEnd)
    }

    /// Wakes the waiting thread, or ends its next wait immediately. For any thread.
    package func signal() {
        var byte: UInt8 = 1
        // Ignores a failure: the pipe is then full, which wakes the thread as well.
        _ = unsafe write(writingEnd, &byte, 1)
    }

    /// Returns when `signal` has been called since the last wait, or after `milliseconds`.
    package func wait(atMost milliseconds: Int32) {
        if clinux_wait_readable(descriptor, milliseconds) > 0 { clear() }
    }

    /// Discards all signals so far, so that the next `wait` blocks.
    package func clear() {
        var bytes = InlineArray<64, UInt8>(repeating: 0)
        var span = bytes.mutableSpan
        unsafe span.withUnsafeMutableBufferPointer { bytes in
            while unsafe read(descriptor, bytes.baseAddress, bytes.count) > 0 {}
        }
    }
}

/// The system could not create a pipe; `code` is the errno of `pipe`.
package struct WakeupPipeError: Error, Hashable, Sendable {
    package let code: Int32
}
