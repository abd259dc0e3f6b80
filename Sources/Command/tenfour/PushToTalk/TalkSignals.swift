import Glibc
import Synchronization
import TenfourPushToTalk
import TenfourSystem

/// SIGUSR1 holds the microphone, SIGUSR2 lets go: for programs that can do nothing but send a signal.
///
/// The signals are caught from the start of the program on, because their default action would end it, and leave the
/// terminal in single-key mode. Without a session they have no effect.
enum TalkSignals {
    /// The end of a pipe into which the handler writes; negative if signals have no effect.
    private static let descriptor = Atomic<Int32>(-1)
    private static let hasBegun = Atomic<Bool>(false)
    /// The lease of the session that runs; nil if none does.
    private static let lease = Locked<MicrophoneLease?>(nil)

    /// Catches both signals until the process ends. Without a free descriptor or thread they have no effect.
    static func begin() {
        guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
        // A handler, because programs that this one starts would go on ignoring a signal that is ignored.
        for number in [SIGUSR1, SIGUSR2] { signal(number, received) }
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let reading = ends[0]
        do throws(ThreadError) {
            try WorkerThread.detached { serve(reading) }
            descriptor.store(ends[1], ordering: .releasing)
        } catch {
            for end in ends { close(end) }
        }
    }

    /// Gives the signals the microphone of a session, or takes it away with nil.
    static func attach(_ lease: MicrophoneLease?) { self.lease.withLock { $0 = lease } }

    private static func serve(_ reading: Int32) {
        var byte: UInt8 = 0
        while unsafe read(reading, &byte, 1) == 1 {
            let lease = lease.withLock { $0 }
            if byte == pressed { lease?.press(.signal) } else { lease?.release(.signal) }
        }
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
