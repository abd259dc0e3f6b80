internal import Glibc
public import TenfourRadio

/// A file whose place is tried at the start, so that what cannot be written is known then, and which is written whole
/// at the end. Until then a file that was there stays as it was. `-` is standard output.
public final class OutputFile {
    private let path: String
    private let file: Int32
    private var isNew = false

    /// Throws `.unavailable` where nothing can be written.
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
                .unavailable, "cannot write \(path): \(unsafe String(cString: strerror(errno))); choose another place")
        }
        self.file = file
    }

    /// What was never written leaves nothing behind.
    deinit {
        guard path != "-" else { return }
        close(file)
        if isNew { _ = unsafe unlink(path) }
    }

    /// Replaces what is there. Throws `.failure`, such as for a disk that is full.
    public func write(_ text: String) throws(RadioError) { try write(Array(text.utf8)) }

    public func write(_ bytes: [UInt8]) throws(RadioError) {
        isNew = false
        // A pipe has no length to be set.
        if path != "-" { ftruncate(file, 0) }
        guard Console.write(bytes, to: file) else {
            throw RadioError(.failure, "cannot write \(path): \(unsafe String(cString: strerror(errno)))")
        }
    }
}
