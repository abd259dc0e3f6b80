internal import Glibc
internal import TenfourAudioCore

extension Resource {
    /// The resource as a URL for other programs, without a password; nil for standard input, and for an address of more
    /// than 1000 bytes.
    public var url: String? {
        switch self {
        case .standardInput: return nil
        case .http(let address):
            guard address.utf8.count <= 1_000 else { return nil }
            return description
        case .file(let path):
            let absolute = path.hasPrefix("/") ? path : Self.workingFolder.map { "\($0)/\(path)" }
            guard let absolute, absolute.utf8.count <= 1_000 else { return nil }
            return "file://" + Self.percentEncoded(absolute)
        }
    }

    /// The C function is `getcwd`.
    private static var workingFolder: String? {
        guard let folder = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(folder) }
        return unsafe String(path: folder)
    }

    /// Percent-encodes all but what RFC 3986 calls unreserved, and the slash.
    private static func percentEncoded(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF")
        var encoded = ""
        for byte in path.pathBytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E:
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
        return encoded
    }
}
