import Glibc
import Synchronization

/// Keys one by one, without waiting for a line and without showing them.
///
/// The terminal is as it was while this process is stopped by Ctrl-Z or runs in the background, and after the end.
struct Keyboard: ~Copyable {
    private let saved: termios
    /// Whether keys come one by one now.
    private let isRaw = Atomic(false)

    /// Nil where standard input is no terminal.
    init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        saved = settings
        JobControl.begin()
        follow()
    }

    deinit {
        JobControl.end()
        restore()
    }

    /// The next key; nil when none came within `milliseconds`, or a signal did.
    ///
    /// Stops the process here after Ctrl-Z: `prepare` is called before that, and takes away what moves on the screen.
    func key(within milliseconds: Int32, beforeStopping prepare: () -> Void) -> Key? {
        if JobControl.takeStop() {
            prepare()
            restore()
            JobControl.stop()
        }
        follow()
        guard Terminal.hasForeground else {
            usleep(UInt32(milliseconds) * 1_000)
            return nil
        }
        guard hasInput(within: milliseconds) else { return nil }
        guard let byte = byte() else {
            // The terminal is gone: wait as if no key came.
            usleep(UInt32(milliseconds) * 1_000)
            return nil
        }
        return byte == 0x1B && hasInput(within: Self.patience) ? special() : .character(Character(UnicodeScalar(byte)))
    }

    enum Key: Equatable {
        case character(Character)
        case up, down, left, right
        /// Any other key.
        case other
    }

    // MARK: Settings

    /// Sets the terminal where that is not done: at the start, after a stop (whatever caused it), and back in the foreground.
    private func follow() {
        if JobControl.takeContinuation() || !Terminal.hasForeground { isRaw.store(false, ordering: .relaxed) }
        guard Terminal.hasForeground, !isRaw.load(ordering: .relaxed) else { return }
        var raw = saved
        raw.c_lflag &= ~UInt32(ICANON | ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        isRaw.store(true, ordering: .relaxed)
    }

    /// Puts the terminal's settings back, but not in the background: there the kernel would stop the process, and the
    /// shell has its own settings.
    private func restore() {
        guard Terminal.hasForeground, isRaw.exchange(false, ordering: .relaxed) else { return }
        var saved = saved
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved)
    }

    // MARK: Reading

    /// The bytes of one key follow each other at once: 25 ms.
    private static let patience: Int32 = 25

    /// Reads the key that an escape begins: `ESC [ A`, `ESC O A`, `ESC [ 5 ~`.
    private func special() -> Key {
        guard let introducer = byte(), introducer == UInt8(ascii: "[") || introducer == UInt8(ascii: "O") else {
            return .other
        }
        var parameters = 0
        while hasInput(within: Self.patience), let next = byte() {
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
