package import Glibc

/// Reads and writes files that only their owner may read (mode 0600). Any thread; the calls block on the disk.
package enum PrivateFile {
    /// O_TMPFILE, which Swift does not import.
    private static let unnamedFile: Int32 = 0o2000_0000 | O_DIRECTORY

    /// Reads the beginning of a file into `buffer`, and returns the number of bytes read: `buffer.count` if the file is
    /// longer. Throws if another user owns the file or may read it. The C functions are `open`, `fstat` and `read`.
    package static func read(
        _ path: String, into buffer: inout MutableSpan<UInt8>
    ) throws(PrivateFileError) -> Int {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .unreadable(errno) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .unreadable(errno) }
        guard status.st_uid == geteuid() else { throw .anotherOwner }
        guard status.st_mode & 0o077 == 0 else { throw .mode(status.st_mode & 0o777) }
        var byteCount = 0
        while byteCount < buffer.count {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe Glibc.read(file, bytes.baseAddress! + byteCount, bytes.count - byteCount)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(errno) }
            if count == 0 { break }
            byteCount += count
        }
        return byteCount
    }

    /// Writes a new file, in one piece. Throws `.exists` if there is a file of this name, which is left as it is. The
    /// C functions are `open` with O_TMPFILE, `fsync` and `linkat`.
    package static func create(_ path: String, _ bytes: Span<UInt8>) throws(PrivateFileError) {
        // A symbolic link that leads nowhere is a file of this name, too.
        var status = stat()
        guard unsafe lstat(path, &status) != 0 else { throw .exists }
        let code = write(bytes, to: path) { unsafe linkat(AT_FDCWD, $0, AT_FDCWD, path, AT_SYMLINK_FOLLOW) }
        guard code != EEXIST else { throw .exists }
        guard code == 0 else { throw .unwritable(code) }
    }

    /// Writes a file beside `path` and renames it to `path`. Nobody can open the file before it is complete, and an
    /// existing file keeps its content until then. With `erasesOld`, zeros are then written over the content of the
    /// file that was replaced. Throws `.notRegular` if `path` is a folder, a device or a link. The C functions are
    /// `open` with O_TMPFILE, `fsync`, `linkat` and `rename`.
    package static func replace(
        _ path: String, _ bytes: Span<UInt8>, erasesOld: Bool = false
    ) throws(PrivateFileError) {
        try checkRegular(path)
        let old = erasesOld ? unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1
        defer { if old >= 0 { close(old) } }
        let name = "\(path).\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        let code = write(bytes, to: name) { written in
            guard unsafe linkat(AT_FDCWD, written, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else { return -1 }
            return rename(name, to: path)
        } byRenaming: {
            rename(name, to: path)
        }
        guard code == 0 else { throw .unwritable(code) }
        if old >= 0 { overwrite(old) }
    }

    /// Writes zeros over the content of a file and removes it. A file that is missing is no error. What a disk or a
    /// file system has kept of the content elsewhere, it cannot reach.
    package static func erase(_ path: String) throws(PrivateFileError) {
        let file = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 && errno == ENOENT { return }
        guard file >= 0 else { throw .unwritable(errno) }
        defer { close(file) }
        overwrite(file)
        guard unsafe unlink(path) == 0 else { throw .unwritable(errno) }
    }

    private static func checkRegular(_ path: String) throws(PrivateFileError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    }

    private static func rename(_ name: String, to path: String) -> Int32 {
        guard unsafe Glibc.rename(name, path) == 0 else {
            let code = errno
            unsafe unlink(name)
            errno = code
            return -1
        }
        return 0
    }

    /// Writes `bytes` to a file without a name, and then calls `link` with a path that leads to it, so that no file
    /// remains if the process is killed. Where the file system or `/proc` does not allow that, the file is named `name`
    /// from the start, and `byRenaming` is called. Returns 0 or an `errno`.
    private static func write(
        _ bytes: Span<UInt8>, to name: String, naming link: (String) -> Int32, byRenaming: () -> Int32 = { 0 }
    ) -> Int32 {
        let folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? "."
        let flags = O_WRONLY | O_CLOEXEC
        let unnamed = unsafe open(folder, flags | unnamedFile, 0o600)
        if unnamed >= 0 {
            defer { close(unnamed) }
            var code = write(bytes, to: unnamed)
            if code == 0, link("/proc/self/fd/\(unnamed)") != 0 { code = errno }
            if code == 0 || code == EEXIST { return code }
        }
        let file = unsafe open(name, flags | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return errno }
        var code = write(bytes, to: file)
        if close(file) != 0, code == 0 { code = errno }
        guard code == 0 else {
            unsafe unlink(name)
            return code
        }
        return byRenaming() == 0 ? 0 : errno
    }

    /// Writes `bytes` to the descriptor `file` and waits for the disk. Returns 0 or an `errno`.
    private static func write(_ bytes: Span<UInt8>, to file: Int32) -> Int32 {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress! + written, $0.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return errno }
            written += count
        }
        return DiskSync.wait(for: file)
    }

    /// Writes zeros over the content of an open file. Ignores errors: the content is then what it was.
    private static func overwrite(_ file: Int32) {
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        let zeros = [UInt8](repeating: 0, count: Int(clamping: min(status.st_size, 1 << 20)))
        _ = lseek(file, 0, SEEK_SET)
        _ = write(zeros.span, to: file)
    }
}

/// The reason why a file is not read or written. The caller knows the path and what is in the file.
package enum PrivateFileError: Error, Hashable, Sendable {
    /// The file belongs to another user, who can read and change it.
    case anotherOwner
    /// Other users may read or write the file. The value are its permissions.
    case mode(mode_t)
    /// A file that would have to be new exists.
    case exists
    /// The path is a folder, a device or a symbolic link.
    case notRegular
    /// The system refused to open or read the file, with this `errno`.
    case unreadable(Int32)
    /// The system refused to write the file, with this `errno`.
    case unwritable(Int32)

    /// A sentence with the remedy, for the file at `path` that holds `what`, such as `a key`.
    package func sentence(_ path: String, holding what: String) -> String {
        switch self {
        case .anotherOwner:
            "\(path) belongs to another user, who can read and change \(what) in it: change the owner with chown, or copy the file"
        case .mode(let mode):
            "other users may read \(path) (mode \(String(mode, radix: 8))): run chmod 600 \(path)"
        case .exists: "\(path) exists, and is not overwritten: move it away, or choose another path"
        case .notRegular:
            "\(path) is not a regular file, and \(what) is written only to regular files: choose another path"
        case .unreadable(let code):
            "cannot read \(path): \(unsafe String(cString: strerror(code))); name a file that holds \(what)"
        case .unwritable(let code):
            "cannot write \(path): \(unsafe String(cString: strerror(code))); choose another path"
        }
    }
}
