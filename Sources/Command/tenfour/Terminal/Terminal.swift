import Glibc
import TenfourCommandSupport

/// The terminal: standard output for data, standard error for messages, the size, and whether a status line may be
/// drawn.
enum Terminal {
    /// Prints a message line to standard error. On a terminal, lines that are too long are broken between words.
    static func log(_ text: String) { Console.log(text) }

    /// Writes data to standard output.
    static func write(_ text: String) { Console.write(text) }

    static func draw(_ text: String) { Console.draw(text) }

    /// Writes a control sequence to the terminal of standard input, because the other streams may go elsewhere. Returns
    /// whether it could be written to.
    @discardableResult
    static func control(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.write(STDIN_FILENO, bytes, bytes.count) == bytes.count
    }

    /// Whether pictures in colours may be drawn in the terminal.
    static var takesPictures: Bool { isatty(STDERR_FILENO) == 1 && takesColours && !isDumb }

    /// Whether a status line may be drawn: not if output goes to a file or a pipe, nor in the background.
    static var showsStatus: Bool { isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1 && hasForeground }

    /// Whether this process is in the foreground, or there is no job control. A background job may neither read the
    /// terminal nor change its settings.
    static var hasForeground: Bool {
        let group = tcgetpgrp(STDIN_FILENO)
        return group < 0 || group == getpgrp()
    }

    /// Whether standard output is a terminal.
    static var isForPeople: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether the terminal can only print lines (TERM=dumb).
    static var isDumb: Bool { unsafe getenv("TERM").map { unsafe String(cString: $0) } == "dumb" }

    /// Whether text on standard output may be coloured; respects https://no-color.org.
    static var takesColours: Bool {
        let refusal = unsafe getenv("NO_COLOR").map { unsafe String(cString: $0) } ?? ""
        return isForPeople && refusal.isEmpty
    }

    /// The terminal's width in columns; 80 if unknown.
    static var width: Int { Console.messageColumns }

    /// The terminal's height in lines; 24 if unknown.
    static var height: Int { Console.size(of: STDERR_FILENO)?.lines ?? 24 }

    /// The size of the terminal on standard output; nil if that is no terminal.
    static var dataSize: (columns: Int, lines: Int)? { Console.size(of: STDOUT_FILENO) }
}
