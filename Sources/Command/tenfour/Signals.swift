import Glibc
import Synchronization

/// The signals that end a session: SIGINT, SIGTERM and SIGHUP. SIGPIPE is ignored, so that `write` returns an error.
enum Signals {
    private static let end = Atomic<Bool>(false)
    private static let last = Atomic<Int32>(SIGINT)

    static var hasEnd: Bool { end.load(ordering: .relaxed) }

    static func catchEnd() {
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, signalled) }
        signal(SIGPIPE, SIG_IGN)
    }

    /// Ends the process by the signal that was caught, since nothing was begun that could be ended in order.
    static func endProcess() -> Never {
        let number = last.load(ordering: .relaxed)
        signal(number, SIG_DFL)
        raise(number)
        exit(128 + number)
    }

    fileprivate static func requestEnd(_ number: Int32) {
        last.store(number, ordering: .relaxed)
        end.store(true, ordering: .relaxed)
    }
}

/// A second signal of the same kind ends the process immediately, since the orderly end after the first may wait for a
/// disk or a card.
@c private func signalled(_ number: Int32) {
    Signals.requestEnd(number)
    signal(number, SIG_DFL)
}
