internal import Glibc
public import TenfourRadio

/// Standard output for data, standard error for talk.
public enum Console {
    /// A line of talk.
    public static func say(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

    /// Data. Ends the process with 1 where it cannot be written: a secret that is on no disk would be lost without a word. A
    /// reader that has read enough, such as `head`, ends it with 0. SIGPIPE is ignored from then on.
    public static func put(_ text: String) {
        signal(SIGPIPE, SIG_IGN)
        if write(text, to: STDOUT_FILENO) { return }
        let code = errno
        if code == EPIPE { exit(0) }
        say("cannot write standard output: \(unsafe String(cString: strerror(code)))")
        exit(1)
    }

    /// Talk that goes on in its line.
    public static func draw(_ text: String) { write(text, to: STDERR_FILENO) }

    /// A file as it is, `-` for standard input.
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
            .unavailable, "cannot read \(path): \(unsafe String(cString: strerror(errno))); name a file that is there")
    }

    /// All of it, or as much as is taken. Returns whether that was all.
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
