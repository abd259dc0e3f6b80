import Glibc
import TenfourRadio
import TenfourSystem

/// A file that holds one secret in its first line and that only its owner may read.
enum SecretFile {
    private static let maximumByteCount = 4_096

    /// Reads the secret. Throws `.unavailable` with the remedy if other users may read the file, if it belongs to
    /// another user, or if it is missing.
    static func read(_ path: String, for what: String) throws(RadioError) -> String {
        var bytes = [UInt8](repeating: 0, count: maximumByteCount)
        let byteCount: Int
        do throws(PrivateFileError) {
            var span = bytes.mutableSpan
            byteCount = try PrivateFile.read(path, into: &span)
        } catch {
            throw RadioError(.unavailable, error.sentence(path, holding: what))
        }
        let line = bytes[..<byteCount].prefix { $0 != UInt8(ascii: "\n") }.filter { !isBlank($0) }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw RadioError(.unavailable, "\(path) does not hold \(what) in its first line")
        }
        return text
    }

    /// Writes `text` to a new file that only its owner may read and renames it to `path` (`PrivateFile.replace`). Throws
    /// `.unavailable` with the remedy if `path` is no regular file.
    static func write(_ text: String, to path: String) throws(RadioError) {
        do throws(PrivateFileError) { try PrivateFile.replace(path, Array(text.utf8).span) } catch {
            throw RadioError(.unavailable, error.sentence(path, holding: "a key"))
        }
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
}
