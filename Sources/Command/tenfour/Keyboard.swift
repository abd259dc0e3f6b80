import Glibc
import Synchronization

/// Reads single key presses from the terminal without echo.
///
/// The terminal's settings are restored while the process is stopped or in the background, and at the end.
struct Keyboard: ~Copyable {
    private let saved: termios
    /// Whether the terminal is in single-key mode.
    private let isRaw = Atomic(false)

    /// Sets single-key mode. Returns nil if standard input is no terminal.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        saved = settings
        JobControl.begin()
        applyMode()
    }

    deinit {
        JobControl.end()
        restore()
    }

    /// Returns the next key; nil if none is pressed within `milliseconds`, or after a signal.
    ///
    /// After Ctrl-Z this calls `prepare`, which clears the status line, and then stops the process until SIGCONT.
    func key(within milliseconds: Int32, beforeStopping prepare: () -> Void) -> Key? {
        if JobControl.consumeStop() {
            prepare()
            restore()
            JobControl.stop()
        }
        applyMode()
        guard Terminal.hasForeground else {
            usleep(UInt32(milliseconds) * 1_000)
            return nil
        }
        guard hasInput(within: milliseconds) else { return nil }
        guard let byte = byte() else {
            // Waits as if no key was pressed, because the terminal was closed.
            usleep(UInt32(milliseconds) * 1_000)
            return nil
        }
        return byte == 0x1B && hasInput(within: Self.escapeTimeout)
            ? escapeSequence() : .character(Character(UnicodeScalar(byte)))
    }

    enum Key: Equatable {
        case character(Character)
        case up, down, left, right
        /// Any other key.
        case other
    }

    // MARK: Settings

    /// Sets single-key mode if necessary: at the start, after any stop, and back in the foreground.
    private func applyMode() {
        if JobControl.consumeContinuation() || !Terminal.hasForeground { isRaw.store(false, ordering: .relaxed) }
        guard Terminal.hasForeground, !isRaw.load(ordering: .relaxed) else { return }
        var raw = saved
        raw.c_lflag &= ~UInt32(ICANON | ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        isRaw.store(true, ordering: .relaxed)
    }

    /// Restores the terminal's settings, except in the background, where the kernel would stop the process and the
    /// shell has its own settings.
    private func restore() {
        guard Terminal.hasForeground, isRaw.exchange(false, ordering: .relaxed) else { return }
        var saved = saved
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved)
    }

    // MARK: Reading

    /// The maximum time, in milliseconds, to wait for the next byte of an escape sequence.
    private static let escapeTimeout: Int32 = 25

    /// Reads the key of an escape sequence: `ESC [ A`, `ESC O A`, `ESC [ 5 ~`.
    private func escapeSequence() -> Key {
        guard let introducer = byte(), introducer == UInt8(ascii: "[") || introducer == UInt8(ascii: "O") else {
            return .other
        }
        var parameters = 0
        while hasInput(within: Self.escapeTimeout), let next = byte() {
            switch next {
            case UInt8(ascii: "A") where parameters == 0: return .up
            case UInt8(ascii: "B") where parameters == 0: return .down
            case UInt8(ascii: "C") where parameters == 0: return .right
            case UInt8(ascii: "D") where parameters == 0: return .left
            case 0x40...0x7E: return .other
            default: parameters += 1
            }
        }
        return .other
    }

    private func hasInput(within milliseconds: Int32) -> Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&input, 1, milliseconds) == 1
    }

    private func byte() -> UInt8? {
        var byte: UInt8 = 0
        return unsafe read(STDIN_FILENO, &byte, 1) == 1 ? byte : nil
    }
}
