internal import TenfourAudioCore

/// A line of a description: its type, which is a letter, and its value, as in `v=0`.
struct SDPLine {
    var type: Unicode.Scalar
    var value: String

    /// Makes a line safe to display, turns its tabs into spaces, and removes the white space around it.
    static func text(of bytes: Span<UInt8>) -> String {
        var (start, end) = (0, bytes.count)
        while start < end, bytes[start].isWhiteSpace { start += 1 }
        while start < end, bytes[end - 1].isWhiteSpace { end -= 1 }
        let spaced = (start..<end).map { bytes[$0].isWhiteSpace ? UInt8(ascii: " ") : bytes[$0] }
        return String(fromPeer: spaced.span, limit: SessionDescription.maximumByteCount)
    }

    /// Splits a line; nil if it does not have the form `TYPE=VALUE`. Spaces around `=` are skipped.
    init?(_ text: String) {
        let scalars = text.unicodeScalars
        guard let type = scalars.first else { return nil }
        let rest = scalars.dropFirst().drop { $0 == " " }
        guard rest.first == "=" else { return nil }
        self.type = type
        value = String(rest.dropFirst().drop { $0 == " " })
    }
}

/// The values that a description may state for the whole session, and again for a stream.
struct SDPLevel {
    var connection: SessionDescription.Connection?
    var direction: SessionDescription.Direction?
    /// Whether there is a fingerprint of a certificate for DTLS (RFC 8122).
    var hasFingerprint = false

    mutating func read(_ content: SDPLine, _ line: Int) throws(SDPError) {
        switch content.type {
        case "c":
            // Parses `c=IN IP4 239.0.0.1/15`.
            guard let connection = SessionDescription.Connection(parsing: content.value.fields(separator: " ")[...])
            else { throw SDPError(line: line, .malformed("the address (c=)")) }
            self.connection = connection
        case "a":
            let (name, _) = SDPAttribute.parts(of: content.value)
            if name == "fingerprint" { hasFingerprint = true }
            if let direction = SessionDescription.Direction(rawValue: name) { self.direction = direction }
        default: return
        }
    }
}

/// An attribute such as `rtpmap:111 opus/48000/2` or `sendonly`.
enum SDPAttribute {
    /// Returns the name in small letters, and the value; the value is empty if there is none.
    static func parts(of text: String) -> (name: String, value: Substring) {
        let scalars = text.unicodeScalars
        let colon = scalars.firstIndex(of: ":") ?? scalars.endIndex
        let name = text[..<colon].fields(separator: " ").first ?? ""
        return (name.lowercased(), Substring(scalars[colon...].dropFirst().drop { $0 == " " }))
    }
}

extension SessionDescription.Connection {
    /// Parses `IN IP4 239.0.0.1/15/3`. The last number, a count of addresses, is ignored; an IPv6 address has only this
    /// number.
    init?(parsing fields: ArraySlice<Substring>) {
        let fields = Array(fields)
        guard fields.count == 3, fields[0].uppercased() == "IN", let family = Family(rawValue: fields[1].uppercased())
        else { return nil }
        let parts = fields[2].fields(separator: "/")
        guard let address = parts.first, address.utf8.count <= 255, address.utf8.allSatisfy(\.isOfAnAddress) else {
            return nil
        }
        var timeToLive: UInt8?
        if family == .v4, parts.count > 1 {
            guard let value = UInt8(parts[1]) else { return nil }
            timeToLive = value
        }
        self.init(String(address), family: family, timeToLive: timeToLive)
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether the byte is a letter, a digit or one of `.:-_%`.
    var isOfAnAddress: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "%"):
            true
        default: false
        }
    }

    /// Whether the byte is one of base64.
    var isOfBase64: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}

extension Substring {
    /// Splits at separators and omits empty parts. Compares Unicode scalars, because a combining mark behind a
    /// separator would hide it from a comparison of characters.
    func fields(separator: Unicode.Scalar) -> [Substring] {
        unicodeScalars.split(separator: separator).map { Substring($0) }
    }
}

extension String {
    func fields(separator: Unicode.Scalar) -> [Substring] { self[...].fields(separator: separator) }
}
