import Glibc

/// Why a file cannot be read or written.
struct FileError: Error, CustomStringConvertible {
    var path: String
    var reason: String

    var description: String { "\(path): \(reason)" }
}

/// The file as UTF-8; bytes that are not are replaced.
func text(ofFile path: String) throws(FileError) -> String {
    guard let file = unsafe fopen(path, "re") else { throw lastError(path) }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe fread(&chunk, 1, chunk.count, file)
        bytes += chunk[..<count]
        if count < chunk.count { break }
    }
    guard unsafe ferror(file) == 0 else { throw lastError(path) }
    return String(decoding: bytes, as: UTF8.self)
}

/// A file that is made at once, so that what cannot be written is known at the start; `-` is the standard output.
@safe struct OutputFile: ~Copyable {
    private let path: String
    private let file: UnsafeMutablePointer<FILE>

    init(path: String) throws(FileError) {
        self.path = path
        let file = unsafe path == "-" ? fdopen(dup(STDOUT_FILENO), "w") : fopen(path, "we")
        guard let file = unsafe file else { throw lastError(path) }
        unsafe self.file = file
    }

    /// Writes all there is, and closes.
    consuming func write(_ text: String) throws(FileError) {
        let path = self.path
        let written = unsafe fputs(text, file) >= 0 && fflush(file) == 0
        guard written else { throw lastError(path) }
    }

    deinit { unsafe fclose(file) }
}

/// A line on the standard error.
func say(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { bytes in _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}

private func lastError(_ path: String) -> FileError {
    FileError(path: path, reason: unsafe String(cString: strerror(errno)))
}
