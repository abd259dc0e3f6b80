internal import CLinux
internal import Glibc

/// Sleeps for 5 ms.
func sleepBriefly() { usleep(5_000) }

/// Wakes one waiting thread from any other. The C functions are `pipe` and `poll`.
final class ThreadWakeup: Sendable {
    private let ends: (reading: Int32, writing: Int32)

    /// Returns nil if too many files are open.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        self.ends = (ends[0], ends[1])
    }

    deinit {
        close(ends.reading)
        close(ends.writing)
    }

    func signal() {
        var byte: UInt8 = 1
        // A full pipe wakes the thread as well.
        _ = unsafe write(ends.writing, &byte, 1)
    }

    /// Returns when `signal` has been called since the last wait, or after `milliseconds`.
    func wait(atMost milliseconds: Int32) {
        guard clinux_wait_readable(ends.reading, milliseconds) > 0 else { return }
        var bytes = InlineArray<64, UInt8>(repeating: 0)
        var span = bytes.mutableSpan
        unsafe span.withUnsafeMutableBufferPointer { bytes in
            while unsafe read(ends.reading, bytes.baseAddress, bytes.count) == bytes.count {}
        }
    }
}
