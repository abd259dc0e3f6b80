import Console
import Glibc

/// Standard output for data, standard error for talk, and the keyboard where there is one.
enum Terminal {
    /// A line of talk.
    static func say(_ line: String) { Console.say(line) }

    /// Data.
    static func put(_ text: String) { Console.put(text) }

    static func draw(_ text: String) { Console.draw(text) }

    /// Whether a line that changes may be drawn: not where output goes to a file or a pipe.
    static var showsStatus: Bool { isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Whether a person looks at data, too.
    static var isForPeople: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether data may be coloured: https://no-color.org is heeded.
    static var takesColours: Bool {
        let refusal = unsafe getenv("NO_COLOR").map { unsafe String(cString: $0) } ?? ""
        return isForPeople && refusal.isEmpty
    }

    /// In columns; 80 where it cannot be told.
    static var width: Int { size(of: STDERR_FILENO)?.columns ?? 80 }

    /// In lines; 24 where it cannot be told.
    static var height: Int { size(of: STDERR_FILENO)?.lines ?? 24 }

    /// Of what data is written to; nil where that is no terminal.
    static var dataSize: (columns: Int, lines: Int)? { size(of: STDOUT_FILENO) }

    private static func size(of file: Int32) -> (columns: Int, lines: Int)? {
        var size = winsize()
        guard unsafe ioctl(file, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}

/// Keys one by one, without waiting for a line and without showing them. Put back as it was at the end.
struct Keyboard: ~Copyable {
    private var saved = termios()

    /// Nil where standard input is no terminal.
    init?() {
        guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &saved) == 0 else { return nil }
        var raw = saved
        raw.c_lflag &= ~UInt32(ICANON | ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    }

    deinit {
        var saved = saved
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved)
    }

    /// The next key; nil when none came within `milliseconds`, or a signal did.
    func key(within milliseconds: Int32) -> Key? {
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
        /// One that has no meaning here.
        case other
    }

    /// The bytes of one key follow each other at once: 25 ms.
    private static let patience: Int32 = 25

    /// What an escape begins: `ESC [ A`, `ESC O A`, `ESC [ 5 ~`.
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
