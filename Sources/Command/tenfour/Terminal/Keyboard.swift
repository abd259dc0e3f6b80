import Glibc
import TenfourAudioCore
import TenfourClocks
import TenfourCommandSupport
import TenfourPushToTalk

/// Reads single key presses from the terminal without echo, and, if the terminal can report them, releases and the mouse.
///
/// The terminal's settings are restored while the process is stopped or in the background, and at the end. Use it on one
/// thread.
final class Keyboard {
    enum Input: Equatable {
        case key(TerminalKey, TerminalKey.Change)
        /// The terminal has lost the focus, or has it again. Only terminals that report releases tell it.
        case focusLost, focusGained
        case mouse(MouseReport)
        /// The line in which the cursor is, from 0 at the top: the answer to `askForCursor`.
        case cursor(line: Int)
        /// The terminal was closed.
        case closed
    }

    private let saved: termios
    private var parser = TerminalInput()
    /// Keys that were pressed while `settle` waited.
    private var waiting: [Input] = []
    /// Whether the terminal is in single-key mode.
    private var isRaw = false
    /// Whether the keyboard is not used any more, or the terminal was closed.
    private var isClosed = false
    private var kitty: KittyProtocol
    private var mouse = MouseReporting()
    private var terminalTitle = TerminalTitle()

    /// Sets single-key mode. Returns nil if standard input is no terminal. If `reportsReleases` is true, asks the
    /// terminal whether it can report when a key is released; `settle` waits for the answer.
    init?(reportsReleases: Bool = false) {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        saved = settings
        kitty = KittyProtocol(isWanted: reportsReleases)
        JobControl.begin()
        applyMode()
    }

    deinit { close() }

    /// Restores the terminal for good. Ctrl-C then sends its signal again, also in terminals that report releases.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        JobControl.end()
        restore()
    }

    /// Whether the terminal reports when a key is released.
    var reportsReleases: Bool { kitty.isConfirmed }

    /// Whether the terminal is to report the mouse. The next `input` tells it to.
    var reportsMouse: Bool {
        get { mouse.isWanted }
        set { mouse.isWanted = newValue }
    }

    /// The title that the terminal is to have; nil for the one that it had. The next `input` sets it.
    var title: String? {
        get { terminalTitle.wanted }
        set { terminalTitle.wanted = newValue }
    }

    /// Asks the terminal in which line the cursor is. A terminal that does not know this does not answer.
    func askForCursor() { if isRaw { Terminal.control("\u{1B}[6n") } }

    /// Waits until the terminal has answered, for at most `milliseconds`. A terminal that knows nothing of the question
    /// answers the one that follows it.
    func settle(within milliseconds: Int32) {
        let end = MonotonicClock.now + .milliseconds(Int64(milliseconds))
        while kitty.isAsking, !isClosed, waiting.count < Self.maximumWaitingCount, MonotonicClock.now < end {
            // Short waits, because an answer alone does not end the wait for a key.
            if let input = read(within: 10) { waiting.append(input) }
        }
    }

    /// Returns the next key press or repeat; nil if there is none within `milliseconds`, or after a signal.
    func key(within milliseconds: Int32, beforeStopping prepare: () -> Void) -> TerminalKey? {
        let end = MonotonicClock.now + .milliseconds(Int64(milliseconds))
        var left = milliseconds
        while true {
            switch input(within: left, beforeStopping: prepare) {
            case .key(let key, .press), .key(let key, .repeat): return key
            case .key(_, .release), .focusLost, .focusGained, .mouse, .cursor, .closed: break
            case nil: return nil
            }
            left = PollTimeout.milliseconds(until: end)
        }
    }

    /// Returns the next input; nil if there is none within `milliseconds`, or after a signal.
    ///
    /// After Ctrl-Z this calls `prepare`, which clears the status line, and then stops the process until SIGCONT.
    func input(within milliseconds: Int32, beforeStopping prepare: () -> Void) -> Input? {
        if JobControl.consumeStop() {
            prepare()
            restore()
            JobControl.stop()
        }
        applyMode()
        if !waiting.isEmpty { return waiting.removeFirst() }
        guard Terminal.hasForeground, !isClosed else {
            usleep(UInt32(milliseconds) * 1_000)
            return nil
        }
        return read(within: milliseconds)
    }

    /// The maximum number of keys that are kept for later.
    private static let maximumWaitingCount = 64

    // MARK: Settings

    /// Sets single-key mode if necessary: at the start, after any stop, and back in the foreground.
    private func applyMode() {
        if JobControl.consumeContinuation() || !Terminal.hasForeground { isRaw = false }
        guard Terminal.hasForeground, !isClosed else { return }
        if !isRaw {
            TerminalRescue.arm(saved)
            var raw = saved
            raw.c_lflag &= ~UInt32(ICANON | ECHO)
            unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
            isRaw = true
            // After a stop by a signal, the shell may have reset the terminal.
            mouse.end()
        }
        kitty.begin()
        mouse.update()
        terminalTitle.update()
    }

    /// Restores the terminal's settings, except in the background, where the kernel would stop the process and the
    /// shell has its own settings.
    private func restore() {
        guard Terminal.hasForeground, isRaw else { return }
        isRaw = false
        mouse.end()
        terminalTitle.end()
        kitty.end()
        // An answer that is still under way would otherwise appear as typed text.
        if kitty.isAsking { tcflush(STDIN_FILENO, TCIFLUSH) }
        var saved = saved
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved)
        TerminalRescue.disarm()
    }

    // MARK: Reading

    /// Reads bytes until they make an input, for at most `milliseconds`. Returns nil earlier after a signal.
    private func read(within milliseconds: Int32) -> Input? {
        let end = MonotonicClock.now + .milliseconds(Int64(milliseconds))
        while true {
            if let event = parser.timeElapsed(at: MonotonicClock.now), let input = input(for: event) { return input }
            // Looks once even if there is no time to wait, since a key may have been pressed before.
            let left = PollTimeout.milliseconds(until: min(end, parser.nextDeadline ?? end))
            switch byte(within: left) {
            case .byte(let byte):
                if let event = parser.append(byte, at: MonotonicClock.now), let input = input(for: event) {
                    return input
                }
            case .closed:
                isClosed = true
                return .closed
            case .interrupted: return nil
            case .none: if MonotonicClock.now >= end { return nil }
            }
        }
    }

    private enum Read {
        case byte(UInt8)
        case none, interrupted, closed
    }

    private func byte(within milliseconds: Int32) -> Read {
        var file = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&file, 1, milliseconds)
        guard count != 0 else { return .none }
        guard count > 0 else { return .interrupted }
        var byte: UInt8 = 0
        if unsafe Glibc.read(STDIN_FILENO, &byte, 1) == 1 { return .byte(byte) }
        return Int32(file.revents) & (Int32(POLLHUP) | Int32(POLLERR) | Int32(POLLNVAL)) != 0 ? .closed : .interrupted
    }

    /// Returns the input that an event of the terminal is; nil if it concerns only the keyboard.
    private func input(for event: TerminalInput.Event) -> Input? {
        switch event {
        case .key(.character(let character), .press) where kitty.isConfirmed && raiseSignal(of: character): return nil
        case .key(let key, let change): return .key(key, change)
        case .focusLost: return .focusLost
        case .focusGained: return .focusGained
        case .mouse(let report): return .mouse(report)
        case .cursorPosition(let line, _): return .cursor(line: line)
        case .keyboardFlags(let flags): kitty.receive(flags: flags)
        case .deviceAttributes: kitty.receiveAttributes()
        }
        return nil
    }

    /// Sends the signal that the terminal would send for Ctrl-C, Ctrl-Z or Ctrl-\ if it did not report them as keys.
    /// Returns false for another key.
    private func raiseSignal(of character: Character) -> Bool {
        switch character {
        case "\u{3}": kill(0, SIGINT)
        case "\u{1A}": kill(0, SIGTSTP)
        case "\u{1C}":
            restore()
            kill(0, SIGQUIT)
        default: return false
        }
        return true
    }
}
