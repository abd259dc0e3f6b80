/// The host and port of a relay, as a link writes them.
public struct RelayHost: Sendable, Hashable {
    /// A name or an address, in small letters, an IPv6 address without brackets.
    public let name: String
    public let port: UInt16

    public init(host name: String, port: UInt16 = ChannelLink.defaultPort) throws(ChannelLinkError) {
        let bytes = Array(name.utf8)
        guard port > 0 else { throw .port }
        let isV6 = bytes.contains(UInt8(ascii: ":"))
        self.name = try isV6 ? Self.v6Host(bytes.span) : Self.host(bytes.span)
        self.port = port
    }

    /// Parses `HOST[:PORT]`, written as in a link. The port is 5004 if it is missing.
    public init(_ text: String) throws(ChannelLinkError) {
        let bytes = Array(text.utf8)
        try self.init(parsing: bytes.span)
    }

    init(parsing text: Span<UInt8>) throws(ChannelLinkError) {
        var hostEnd = text.count
        let isV6 = text.count > 0 && text[0] == UInt8(ascii: "[")
        if isV6 {
            guard let bracket = text.first(UInt8(ascii: "]")) else { throw .host }
            hostEnd = bracket + 1
        } else if let colon = text.first(UInt8(ascii: ":")) {
            hostEnd = colon
        }
        if hostEnd < text.count {
            guard text[hostEnd] == UInt8(ascii: ":") else { throw .host }
            port = try Self.port(text.extracting((hostEnd + 1)...))
        } else {
            port = ChannelLink.defaultPort
        }
        name =
            try isV6
            ? Self.v6Host(text.extracting(1..<(hostEnd - 1))) : Self.host(text.extracting(..<hostEnd))
    }

    /// The relay's id in JOIN.
    public var id: RelayID { RelayID(host: name, port: port) }

    static func port(_ text: Span<UInt8>) throws(ChannelLinkError) -> UInt16 {
        var port = 0
        for index in text.indices {
            guard let digit = text[index].digit else { throw .port }
            port = port * 10 + digit
            guard port <= UInt16.max else { throw .port }
        }
        guard port > 0 else { throw .port }
        return UInt16(port)
    }

    private static func host(_ text: Span<UInt8>) throws(ChannelLinkError) -> String {
        guard (1...253).contains(text.count) else { throw .host }
        guard let host = text.small({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") })
        else {
            throw .host
        }
        return host
    }

    private static func v6Host(_ text: Span<UInt8>) throws(ChannelLinkError) -> String {
        guard (2...45).contains(text.count) else { throw .host }
        let host = text.small {
            $0.hexadecimal != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
        }
        guard let host, host.contains(":") else { throw .host }
        return host
    }
}

extension RelayHost: CustomStringConvertible {
    /// `HOST` or `HOST:PORT`, with brackets around an IPv6 address.
    public var description: String {
        (name.contains(":") ? "[\(name)]" : name) + (port == ChannelLink.defaultPort ? "" : ":\(port)")
    }
}

extension Span<UInt8> {
    func first(_ byte: UInt8) -> Int? {
        for index in indices where self[index] == byte { return index }
        return nil
    }

    /// Returns the text with capitals converted to small letters; nil if `isAllowed` rejects a byte.
    func small(_ isAllowed: (UInt8) -> Bool) -> String? {
        var bytes: [UInt8] = []
        for index in indices {
            guard isAllowed(self[index]) else { return nil }
            bytes.append((0x41...0x5A).contains(self[index]) ? self[index] | 0x20 : self[index])
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    var digit: Int? { (0x30...0x39).contains(self) ? Int(self) - 0x30 : nil }
    var isLetterOrDigit: Bool { digit != nil || (0x61...0x7A).contains(self | 0x20) }
    var hexadecimal: UInt8? {
        if let digit { return UInt8(digit) }
        return (0x61...0x66).contains(self | 0x20) ? (self | 0x20) - 0x61 + 10 : nil
    }
}
