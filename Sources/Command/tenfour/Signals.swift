import Glibc
import Synchronization

/// The signals that end a session: SIGINT, SIGTERM and SIGHUP. SIGPIPE is ignored, so that `write` returns an error.
enum Signals {
    private static let end = Atomic<Bool>(false)

    static var hasEnd: Bool { end.load(ordering: .relaxed) }

    static func catchEnd() {
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, signalled) }
        signal(SIGPIPE, SIG_IGN)
    }

    fileprivate static func requestEnd() { end.store(true, ordering: .relaxed) }
}

/// A second signal of the same kind ends the process immediately, since the orderly end after the first may wait for a
/// disk or a card.
@c private func signalled(_ number: Int32) {
    Signals.requestEnd()
    signal(number, SIG_DFL)
}
