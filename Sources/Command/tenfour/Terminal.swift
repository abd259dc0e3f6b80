import Glibc
import TenfourCommandSupport

/// Standard output for data, standard error for talk, and the keyboard where there is one.
enum Terminal {
    /// A line of talk.
    static func say(_ line: String) { Console.say(line) }

    /// Data.
    static func put(_ text: String) { Console.put(text) }

    static func draw(_ text: String) { Console.draw(text) }

    /// Whether a line that changes may be drawn: not where output goes to a file or a pipe, nor as a job in the background.
    static var showsStatus: Bool { isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1 && hasForeground }

    /// Whether the terminal is ours: a job in the background may neither read from it nor change its settings. True also for a
    /// terminal that does no job control for us.
    static var hasForeground: Bool {
        let group = tcgetpgrp(STDIN_FILENO)
        return group < 0 || group == getpgrp()
    }

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
