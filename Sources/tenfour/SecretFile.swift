import Glibc
import Radio

/// A file that holds one secret in its first line, and that nobody else may read.
enum SecretFile {
    private static let maximumByteCount = 4_096

    /// Throws `.unavailable` with the remedy where others may read it, it is another's, or it is not there.
    static func read(_ path: String, for what: String) throws(RadioError) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path, what) }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw unreadable(path, what) }
        guard status.st_uid == geteuid() else {
            throw RadioError(
                .unavailable,
                "\(path) belongs to another user, who can read and change \(what) in it: chown it, or copy it")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw RadioError(
                .unavailable,
                "\(path) may be read by others (mode \(String(status.st_mode & 0o777, radix: 8))): chmod 600 \(path)")
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

    /// The path of a file that holds a channel's link, where such a one was written in the place of an address: as it is, or
    /// behind a @ as other programs have it.
    static func link(namedBy text: String) -> String? {
        let path = text.hasPrefix("@") ? String(text.dropFirst()) : text
        let scheme = Array("tenfour://".utf8)
        // A pipe would keep us waiting.
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
