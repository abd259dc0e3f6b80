internal import Glibc
internal import TenfourAudioCore

/// Tells a file from all others, whatever its path and whatever links lead to it: its device and inode.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    init(_ status: stat) { (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino)) }

    /// The identity of the regular file at `path`; nil if there is none. The C function is `stat`.
    package init?(regularFileAt path: String) {
        var status = stat()
        guard unsafe path.withPath({ unsafe stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        self.init(status)
    }

    /// The identity of an open file; nil if it has none. The C function is `fstat`.
    init?(descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}
