import Glibc
import Synchronization

/// Restores the terminal if the process ends without its orderly end: when it crashes, when Ctrl-\ ends it, and at
/// `exit`. Nothing can be done after SIGKILL; `reset` restores the terminal then.
enum TerminalRescue {
    private static let isArmed = Atomic(false)
    private static let isInstalled = Atomic(false)
    private static let isTitled = Atomic(false)

    /// Keeps the settings to restore. Call it before they are changed.
    static func arm(_ settings: termios) {
        unsafe savedSettings = settings
        isArmed.store(true, ordering: .releasing)
        guard !isInstalled.exchange(true, ordering: .relaxed) else { return }
        for index in fatalSignals.indices {
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_handler = crashed
            unsafe sigaction(fatalSignals[index], &action, &earlierActions[index])
        }
        atexit(restoreAtExit)
    }

    /// Whether the terminal has a title of ours.
    static var hasTitle: Bool {
        get { isTitled.load(ordering: .acquiring) }
        set { isTitled.store(newValue, ordering: .releasing) }
    }

    /// The terminal was restored.
    static func disarm() { isArmed.store(false, ordering: .releasing) }

    /// Restores the terminal, unless that has been done or another job has it. Calls only functions that signal handlers
    /// may call.
    fileprivate static func restore() {
        guard isArmed.exchange(false, ordering: .acquiring), Terminal.hasForeground else { return }
        if hasTitle { write(TerminalTitle.ending) }
        write(endings)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &savedSettings)
    }

    private static func write(_ text: StaticString) {
        text.withUTF8Buffer { bytes in
            _ = unsafe Glibc.write(STDIN_FILENO, bytes.baseAddress, bytes.count)
        }
    }

    /// Lets the signal do what it did before.
    fileprivate static func passOn(_ number: Int32) {
        for index in fatalSignals.indices where fatalSignals[index] == number {
            unsafe sigaction(number, &earlierActions[index], nil)
        }
        raise(number)
    }
}

/// The mouse reports and the kitty keyboard protocol off, the cursor's line cleared from it on.
private let endings: StaticString = "\u{1B}[?1002l\u{1B}[?1006l\u{1B}[<u\u{1B}[?1004l\r\u{1B}[J"
private let fatalSignals: InlineArray<8, Int32> = [
    SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSYS, SIGQUIT,
]
nonisolated(unsafe) private var earlierActions = InlineArray<8, sigaction>(repeating: sigaction())
nonisolated(unsafe) private var savedSettings = termios()

@c private func crashed(_ number: Int32) {
    TerminalRescue.restore()
    TerminalRescue.passOn(number)
}

@c private func restoreAtExit() { TerminalRescue.restore() }
