internal import Glibc
internal import TenfourAudioCore

/// The location of a media resource.
public enum Resource: Hashable, Sendable {
    /// An address that begins with `http://` or `https://` and is ASCII.
    case http(address: String)
    case file(path: String)
    case standardInput

    /// The longest permitted address, in bytes. A longer one is refused.
    public static let maximumByteCount = 8_192

    /// Parses an address, `file:///…`, a path, or `-`. Throws for any other text; the error is a sentence with its
    /// remedy.
    public init(_ text: String) throws(ResourceError) {
        if text == "-" {
            self = .standardInput
        } else {
            try self.init(reference: text, scheme: Self.scheme(of: text))
        }
    }

    /// Resolves an entry of a playlist that lies at this resource (RFC 3986, section 5.2). A playlist from the network
    /// cannot name local files.
    public func resolving(_ reference: String) throws(ResourceError) -> Resource {
        let scheme = Self.scheme(of: reference)
        switch self {
        case .http(let base):
            if scheme == nil { return .http(address: try Self.joined(base, Self.cleaned(reference))) }
            let resource = try Resource(reference: reference, scheme: scheme)
            guard case .http = resource else {
                throw ResourceError(
                    "a playlist from the network names a local file, which is not opened; play that file directly",
                    kind: .unplayableList)
            }
            return resource
        case .file, .standardInput:
            if scheme != nil || reference.hasPrefix("/") { return try Resource(reference: reference, scheme: scheme) }
            // Accepts backslashes between folders, as in playlists from Windows.
            let path = reference.contains("/") ? reference : String(reference.map { $0 == "\\" ? "/" : $0 })
            guard case .file(let base) = self, let slash = base.lastIndex(of: "/") else {
                return try Resource(reference: path, scheme: nil)
            }
            return try Resource(reference: base[...slash] + path, scheme: nil)
        }
    }

    /// The host and port of an address, without a user or password; nil for files.
    public var host: String? {
        guard case .http(let address) = self, let start = address.firstRange(of: "://")?.upperBound else { return nil }
        let authority = address[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return String(authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "")
    }

    /// Whether this is a file, and it is there. The C function is `access`.
    var isExistingFile: Bool {
        guard case .file(let path) = self else { return false }
        return unsafe path.withPath { unsafe access($0, F_OK) } == 0
    }

    private init(reference: String, scheme: String?) throws(ResourceError) {
        guard reference.utf8.count <= Self.maximumByteCount else {
            throw ResourceError(
                "the address is too long (\(reference.utf8.count) bytes); write at most \(Self.maximumByteCount) bytes")
        }
        switch scheme {
        case nil:
            guard !reference.isEmpty, !reference.utf8.contains(0) else {
                throw ResourceError("the name is empty; write an address as https://… or the path of a file")
            }
            self = .file(path: reference)
        case "http", "https":
            let rest = reference.dropFirst(scheme?.count ?? 0)
            let address = try Self.cleaned((scheme ?? "") + rest)
            guard address.hasPrefix("\(scheme ?? "")://"), let host = Resource.http(address: address).host,
                !host.isEmpty
            else {
                throw ResourceError(
                    "'\(String(fromPeer: Self.shown(reference), limit: 80))' has no host; write it as https://host/path"
                )
            }
            self = .http(address: String(address.prefix { $0 != "#" }))
        case "file":
            let rest = reference.dropFirst("file:".count)
            let path =
                rest.hasPrefix("//localhost/") ? rest.dropFirst(11) : rest.hasPrefix("//") ? rest.dropFirst(2) : rest
            guard path.hasPrefix("/"), let decoded = Self.percentDecoded(path), !decoded.utf8.contains(0) else {
                throw ResourceError(
                    "'\(String(fromPeer: reference, limit: 80))' does not name a file; write it as file:///path")
            }
            self = .file(path: decoded)
        case .some(let other):
            throw ResourceError(
                "\(other): is not supported; write an address as https://… or the path of a file",
                kind: .unsupportedScheme)
        }
    }
}

extension Resource: CustomStringConvertible {
    /// The resource for display, without a password and without characters that could disturb a terminal.
    public var description: String {
        switch self {
        case .standardInput: return "-"
        case .file(let path): return String(fromPeer: Self.shown(path), limit: 1_024)
        case .http(let address):
            guard let start = address.firstRange(of: "://")?.upperBound else { return address }
            let end = address[start...].firstIndex { $0 == "/" || $0 == "?" } ?? address.endIndex
            let shown = String(address[..<start]) + (host ?? "") + String(address[end...])
            return String(fromPeer: shown, limit: 1_024)
        }
    }
}

extension Resource {
    /// Returns a text for display: without a user and password, if it is or resembles an address.
    package static func shown(_ text: String) -> String {
        guard let colon = text.firstRange(of: ":/"), scheme(of: "\(text[..<colon.lowerBound])://") != nil else {
            return text
        }
        let start = text[colon.upperBound...].firstIndex { $0 != "/" } ?? text.endIndex
        let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        guard let at = text[start..<end].lastIndex(of: "@") else { return text }
        return String(text[..<start]) + String(text[text.index(after: at)...])
    }
}

/// The reason why a text is not a resource: a sentence with its remedy.
public struct ResourceError: Error, Equatable, Sendable, CustomStringConvertible {
    public var description: String
    public var kind: MediaErrorKind

    init(_ description: String, kind: MediaErrorKind = .invalidAddress) {
        self.description = description
        self.kind = kind
    }
}

// MARK: The parts of an address

extension Resource {
    /// Returns the scheme in lower case; nil if there is none. A single letter is no scheme but a Windows drive.
    private static func scheme(of text: String) -> String? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text[..<colon]
        let isScheme =
            scheme.utf8.count > 1 && scheme.utf8.count <= 16 && scheme.utf8.first.map(isLetter) == true
            && scheme.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) || $0 == 43 || $0 == 45 || $0 == 46 }
        guard isScheme else { return nil }
        let name = scheme.lowercased()
        // A colon alone does not end a scheme: `song: the second.mp3` is a file.
        return text[colon...].hasPrefix("://") || name == "file" ? name : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }

    /// Percent-encodes characters that addresses cannot contain, as browsers do. Throws for control characters.
    private static func cleaned(_ text: String) throws(ResourceError) -> String {
        var cleaned = ""
        for byte in text.utf8 {
            switch byte {
            case 0..<0x20, 0x7F: throw ResourceError("the address contains a control character; check its spelling")
            case 0x20, 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D, 0x80...:
                let digits = Array("0123456789ABCDEF")
                cleaned += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            default: cleaned.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return cleaned
    }

    /// Resolves a reference without a scheme (RFC 3986, section 5.2).
    private static func joined(_ base: String, _ reference: String) throws(ResourceError) -> String {
        guard base.utf8.count + reference.utf8.count <= maximumByteCount, let colons = base.firstRange(of: "://") else {
            throw ResourceError(
                "an address in the playlist is longer than \(maximumByteCount) bytes; correct it in the playlist, or ask its operator"
            )
        }
        let scheme = base[..<colons.lowerBound]
        let authorityEnd = base[colons.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? base.endIndex
        let path = base[authorityEnd...].prefix { $0 != "?" }
        let reference = reference.prefix { $0 != "#" }
        if reference.hasPrefix("//") {
            guard let host = Resource.http(address: "\(scheme):\(reference)").host, !host.isEmpty else {
                throw ResourceError(
                    "an address in the playlist has no host; correct it in the playlist, or ask its operator")
            }
            return "\(scheme):\(reference)"
        }
        if reference.isEmpty { return base }
        if reference.hasPrefix("?") { return String(base[..<authorityEnd] + path + reference) }
        let folder = reference.hasPrefix("/") ? "" : path[..<(path.lastIndex(of: "/") ?? path.startIndex)] + "/"
        let query = reference.firstIndex(of: "?") ?? reference.endIndex
        return base[..<authorityEnd] + withoutDots(folder + reference[..<query]) + reference[query...]
    }

    private static func withoutDots(_ path: String) -> String {
        var parts: [Substring] = []
        let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, part) in all.enumerated() {
            let isLast = index == all.count - 1
            switch part {
            case ".": if isLast { parts.append("") }
            case "..":
                _ = parts.popLast()
                if isLast { parts.append("") }
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// Returns the path that `text` percent-encodes; nil if it is no such encoding.
    static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = String(text).pathBytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(pathBytes: bytes)
    }
}
