import Glibc
import TenfourAudioCore
import TenfourPackets
import TenfourRadio

/// Reads and writes short text files, such as SDP.
enum TextFile {
    /// Writes `text`; with `isSecret`, only this user can read the file (`SecretFile.write`).
    static func write(_ text: String, to path: String, isSecret: Bool = false) throws(RadioError) {
        guard path != "-" else { return Terminal.write(text) }
        if isSecret { return try SecretFile.write(text, to: path) }
        guard let file = unsafe path.withPath({ unsafe fopen($0, "we") }) else {
            throw RadioError(
                .unavailable, "cannot write \(path): \(unsafe String(cString: strerror(errno))); choose another path")
        }
        let written = unsafe fputs(text, file)
        guard unsafe fclose(file) == 0, written >= 0 else {
            throw RadioError(.failure, "cannot write \(path): \(unsafe String(cString: strerror(errno)))")
        }
    }

    static func readDescription(_ path: String) throws(RadioError) -> SessionDescription {
        let bytes = try read(path, limit: 65_537)
        do {
            return try SessionDescription(parsing: bytes.span)
        } catch {
            throw RadioError(.unavailable, "the SDP file \(path) cannot be used: \(error)")
        }
    }

    private static func read(_ path: String, limit: Int) throws(RadioError) -> [UInt8] {
        guard let file = unsafe path.withPath({ unsafe fopen($0, "re") }) else {
            throw RadioError(
                .unavailable,
                "cannot read \(path): \(unsafe String(cString: strerror(errno))); name another SDP file")
        }
        defer { unsafe fclose(file) }
        return unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = unsafe fread(buffer.baseAddress, 1, limit, file)
        }
    }
}
