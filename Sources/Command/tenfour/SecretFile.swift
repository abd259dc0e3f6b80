import Glibc
import TenfourRadio

/// A file that holds one secret in its first line and that only its owner may read.
enum SecretFile {
    private static let maximumByteCount = 4_096
    /// O_TMPFILE, which Swift does not import.
    private static let unnamedFile: Int32 = 0o2000_0000 | O_DIRECTORY

    /// Reads the secret. Throws `.unavailable` with the remedy if other users may read the file, if it belongs to
    /// another user, or if it is missing.
    static func read(_ path: String, for what: String) throws(RadioError) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path, what) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw unreadable(path, what) }
        guard status.st_uid == geteuid() else {
            throw RadioError(
                .unavailable,
                "\(path) belongs to another user, who can read and change \(what) in it: change the owner with chown, or copy the file"
            )
        }
        guard status.st_mode & 0o077 == 0 else {
            throw RadioError(
                .unavailable,
                "other users may read \(path) (mode \(String(status.st_mode & 0o777, radix: 8))): run chmod 600 \(path)"
            )
        }
        var bytes = [UInt8](repeating: 0, count: maximumByteCount)
        var byteCount = 0
        while byteCount < maximumByteCount {
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(file, $0.baseAddress! + byteCount, maximumByteCount - byteCount)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path, what) }
            if count == 0 { break }
            byteCount += count
        }
        let line = bytes[..<byteCount].prefix { $0 != UInt8(ascii: "\n") }.filter { !isBlank($0) }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw RadioError(.unavailable, "\(path) does not hold \(what) in its first line")
        }
        return text
    }

    /// Writes `text` to a new file that only its owner may read and renames it to `path`. Nobody can open the file
    /// before it is complete, and the secret is never written to an existing file of another user. Throws
    /// `.unavailable` with the remedy if `path` is no regular file.
    static func write(_ text: String, to path: String) throws(RadioError) {
        var status = stat()
        if unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw RadioError(
                .unavailable,
                "\(path) is not a regular file, and keys are written only to regular files: choose another path")
        }
        let bytes = Array(text.utf8)
        var code = replace(path, with: bytes, isNamedLate: true)
        // Tries again with a file that has a name from the start, since the file system may lack unnamed files or the
        // system `/proc`.
        if code != 0 { code = replace(path, with: bytes, isNamedLate: false) }
        if code != 0 { throw unwritable(path, code) }
    }

    /// Writes `bytes` to a new file and renames it to `path`. Returns 0 or an `errno`. With `isNamedLate` the new file
    /// has no name until it is complete, so no file remains if the process is killed. The C functions are `open` with
    /// O_TMPFILE, `linkat` and `rename`.
    private static func replace(_ path: String, with bytes: [UInt8], isNamedLate: Bool) -> Int32 {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let name = "\(path).\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        let flags = O_WRONLY | O_CLOEXEC
        let file =
            isNamedLate
            ? unsafe open(folder, flags | unnamedFile, 0o600)
            : unsafe open(name, flags | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return errno }
        var code = write(bytes, to: file)
        if code == 0, isNamedLate,
            unsafe linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0
        {
            code = errno
        }
        if close(file) != 0, code == 0 { code = errno }
        if code == 0, unsafe rename(name, path) != 0 { code = errno }
        if code != 0 { unsafe unlink(name) }
        return code
    }

    /// Writes `bytes` to the descriptor `file`. Returns 0 or an `errno`.
    private static func write(_ bytes: [UInt8], to file: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return errno }
            rest = rest.dropFirst(count)
        }
        return 0
    }

    private static func unwritable(_ path: String, _ code: Int32) -> RadioError {
        RadioError(
            .unavailable, "cannot write \(path): \(unsafe String(cString: strerror(code))); choose another path")
    }

    /// Checks whether `text`, typed in place of an address, names a file with a channel's link. Returns the path,
    /// without a leading @; nil if `text` names no such file.
    static func link(namedBy text: String) -> String? {
        let path = text.hasPrefix("@") ? String(text.dropFirst()) : text
        let scheme = Array("tenfour://".utf8)
        // Sets O_NONBLOCK, because opening a pipe would block.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: maximumByteCount)
        let count = unsafe Glibc.read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        let start = bytes[..<count].drop(while: isBlank).prefix(scheme.count).map { $0 | 0x20 }
        return start == scheme.map { $0 | 0x20 } ? path : nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == 9 || byte == 13 }

    private static func unreadable(_ path: String, _ what: String) -> RadioError {
        RadioError(
            .unavailable,
            "cannot read \(path): \(unsafe String(cString: strerror(errno))); name a file that holds \(what)")
    }
}
