import Glibc
import Synchronization
import TenfourPushToTalk
import TenfourThreads

/// SIGUSR1 holds the microphone, SIGUSR2 lets go: for programs that can do nothing but send a signal.
enum TalkSignals {
    /// The end of a pipe into which the handler writes; negative if signals have no effect.
    private static let descriptor = Atomic<Int32>(-1)

    /// Catches both signals, which would otherwise end the process. Without a free descriptor they are ignored.
    static func start(_ lease: MicrophoneLease) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            for number in [SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
            return
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let reading = ends[0]
        descriptor.store(ends[1], ordering: .releasing)
        for number in [SIGUSR1, SIGUSR2] { signal(number, received) }
        do throws(ThreadError) {
            try WorkerThread.detached { [lease] in
                var byte: UInt8 = 0
                while unsafe read(reading, &byte, 1) == 1 {
                    switch byte {
                    case pressed: lease.press(.signal)
                    case released: lease.release(.signal)
                    default: break
                    }
                }
                close(reading)
            }
        } catch {
            stop()
        }
    }

    /// Ignores the signals from now on, and ends the thread.
    static func stop() {
        for number in [SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        let writing = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if writing >= 0 { close(writing) }
    }

    fileprivate static func write(_ number: Int32) {
        var byte = number == SIGUSR1 ? pressed : released
        let writing = descriptor.load(ordering: .acquiring)
        let saved = errno
        if writing >= 0 { _ = unsafe Glibc.write(writing, &byte, 1) }
        errno = saved
    }

    private static let pressed: UInt8 = 1
    private static let released: UInt8 = 0
}

@c private func received(_ number: Int32) { TalkSignals.write(number) }
