internal import Glibc
public import TenfourRadio

/// A file that is opened at the start, so that errors show early, and written completely at the end. Until then an
/// existing file stays unchanged. `-` is standard output.
public final class OutputFile {
    private let path: String
    private let file: Int32
    private var isNew = false

    /// Throws `.unavailable` if it cannot be opened for writing.
    public init(path: String) throws(RadioError) {
        self.path = path
        guard path != "-" else {
            file = STDOUT_FILENO
            return
        }
        var file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        isNew = file >= 0
        if file < 0, errno == EEXIST { file = unsafe open(path, O_WRONLY | O_CLOEXEC) }
        guard file >= 0 else {
            throw RadioError(
                .unavailable, "cannot write \(path): \(unsafe String(cString: strerror(errno))); choose another path")
        }
        self.file = file
    }

    /// A new file that was never written is removed.
    deinit {
        guard path != "-" else { return }
        close(file)
        if isNew { _ = unsafe unlink(path) }
    }

    /// Replaces the content. Throws `.failure`, as for a full disk.
    public func write(_ text: String) throws(RadioError) { try write(Array(text.utf8)) }

    public func write(_ bytes: [UInt8]) throws(RadioError) {
        isNew = false
        // A pipe cannot be truncated.
        if path != "-" { ftruncate(file, 0) }
        guard Console.write(bytes, to: file) else {
            throw RadioError(.failure, "cannot write \(path): \(unsafe String(cString: strerror(errno)))")
        }
    }
}
