internal import Glibc
internal import TenfourSystem

/// A recording's file, which is appended to page by page. Whatever happens, the file ends with a whole page, except when
/// the machine fails in the middle of a write.
final class RecordingFile {
    /// The name in the directory, and the path. `RecordingDirectory.rename` changes both.
    var name: String
    var path: String
    private(set) var byteCount = 0
    /// Whether a power cut would take something that was written.
    private(set) var isUnsynchronized = false
    private let descriptor: Int32

    /// Takes the ownership of the descriptor.
    init(descriptor: Int32, name: String, path: String) {
        self.descriptor = descriptor
        self.name = name
        self.path = path
    }

    deinit { close(descriptor) }

    /// Appends whole pages. If that fails, the file has what it had before.
    func append(_ pages: [UInt8]) throws(RecordingError) {
        var written = 0
        while written < pages.count {
            let count = unsafe pages.withUnsafeBytes {
                unsafe pwrite(
                    descriptor, $0.baseAddress! + written, pages.count - written, off_t(byteCount + written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : EIO
                _ = ftruncate(descriptor, off_t(byteCount))
                throw RecordingError(path, code)
            }
            written += count
        }
        byteCount += pages.count
        isUnsynchronized = true
    }

    /// Writes the beginning anew, in one piece. It lies in the file's first block of 4 096 bytes, so that another program
    /// and a process that is killed see the old beginning or the new one.
    func replaceBeginning(_ bytes: [UInt8]) throws(RecordingError) {
        precondition(bytes.count <= byteCount, "longer than the file")
        let count = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == bytes.count else { throw RecordingError(path, count < 0 ? errno : EIO) }
        isUnsynchronized = true
    }

    /// Brings what was written to the disk. The C function is `fsync`.
    func synchronize() throws(RecordingError) {
        guard isUnsynchronized else { return }
        isUnsynchronized = false
        let code = DiskSync.wait(for: descriptor)
        guard code == 0 else { throw RecordingError(path, code) }
    }
}
