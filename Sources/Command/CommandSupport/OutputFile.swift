internal import Glibc
internal import TenfourAudioCore
public import TenfourRadio

/// An output file. It is opened at the start of the program, so that errors appear early, and written in one piece at
/// the end. Until `write` is called, an existing file stays unchanged. The path `-` is standard output.
public final class OutputFile {
    private let path: String
    private let file: Int32
    private var isNew = false

    /// Opens the file without changing its content. Throws `.unavailable` if it cannot be opened for writing.
    public init(path: String) throws(RadioError) {
        self.path = path
        guard path != "-" else {
            file = STDOUT_FILENO
            return
        }
        var file = unsafe path.withPath { unsafe open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
        isNew = file >= 0
        if file < 0, errno == EEXIST { file = unsafe path.withPath { unsafe open($0, O_WRONLY | O_CLOEXEC) } }
        guard file >= 0 else {
            throw RadioError(
                .unavailable, "cannot write \(path): \(unsafe String(cString: strerror(errno))); choose another path")
        }
        self.file = file
    }

    /// Removes the file if this object created it and `write` was never called.
    deinit {
        guard path != "-" else { return }
        close(file)
        if isNew { _ = unsafe path.withPath { unsafe unlink($0) } }
    }

    /// Replaces the file's content. Throws `.failure` if the write fails, for example because the disk is full.
    public func write(_ text: String) throws(RadioError) { try write(Array(text.utf8)) }

    public func write(_ bytes: [UInt8]) throws(RadioError) {
        isNew = false
        // Truncates only a file: standard output may be a pipe, which cannot be truncated.
        if path != "-" { ftruncate(file, 0) }
        guard Console.write(bytes, to: file) else {
            throw RadioError(.failure, "cannot write \(path): \(unsafe String(cString: strerror(errno)))")
        }
    }
}
