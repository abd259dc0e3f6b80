internal import Glibc
internal import TenfourAudioCore
public import TenfourRadio

/// Standard output for data, standard error for messages.
public enum Console {
    /// Prints a message to standard error. On a terminal, lines that are too long are broken between words.
    public static func log(_ text: String) {
        var text = text.replacingPathBytes
        if isatty(STDERR_FILENO) == 1 { text = text.wrappedLines(toColumns: messageColumns) }
        write(text + "\n", to: STDERR_FILENO)
    }

    /// The number of columns of the terminal on standard error; 80 if it is unknown.
    package static var messageColumns: Int { size(of: STDERR_FILENO)?.columns ?? 80 }

    /// The size of the terminal on a file descriptor; nil if there is none, or it does not know its size.
    package static func size(of file: Int32) -> (columns: Int, lines: Int)? {
        var size = winsize()
        guard unsafe ioctl(file, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }

    /// Writes data to standard output. Exits with 1 if the data cannot be written, because a new secret must not be
    /// lost silently. Exits with 0 if the reader of the pipe, such as `head`, has ended. From the first call on,
    /// SIGPIPE is ignored.
    public static func write(_ text: String) {
        signal(SIGPIPE, SIG_IGN)
        if write(text, to: STDOUT_FILENO) { return }
        let code = errno
        if code == EPIPE { exit(0) }
        log("cannot write standard output: \(unsafe String(cString: strerror(code)))")
        exit(1)
    }

    /// Writes to standard error without a line break.
    public static func draw(_ text: String) { write(text, to: STDERR_FILENO) }

    /// Reads a whole file; `-` is standard input.
    public static func read(_ path: String) throws(RadioError) -> [UInt8] {
        let file = unsafe path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path) }
        defer { if path != "-" { close(file) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }

    private static func unreadable(_ path: String) -> RadioError {
        RadioError(
            .unavailable, "cannot read \(path): \(unsafe String(cString: strerror(errno))); name another file")
    }

    /// Writes `text` to the file descriptor `file`. Returns whether all bytes were written.
    @discardableResult
    static func write(_ text: String, to file: Int32) -> Bool { write(Array(text.utf8), to: file) }

    @discardableResult
    static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
