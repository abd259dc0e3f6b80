/// The link of a channel, `tenfour://HOST[:PORT]/NAME#SECRET`: its relay, its name and its secret.
///
/// The format is in Protocol/05-channel-keys.md. `description` omits the secret; `text` contains it.
public struct ChannelLink: Sendable, Equatable {
    /// The secret after the `#` of a link: a generated secret, or a passphrase that people have chosen.
    public enum Opening: Sendable, Equatable {
        case secret(Secret)
        case passphrase(Passphrase)
    }

    /// The notation of a generated secret: letters and digits, or words.
    public enum Form: Sendable { case letters, words }

    /// The host of the relay, in small letters, an IPv6 address without brackets. If the relay runs inside an endpoint,
    /// this is the endpoint's host. It is nil in the link that such an endpoint itself uses.
    public let host: String?
    public let port: UInt16
    public let name: String
    public let opening: Opening

    public static let defaultPort: UInt16 = 5004
    public static let maximumByteCount = 1024

    public init(
        host: String?, port: UInt16 = defaultPort, name: String, opening: Opening
    ) throws(ChannelLinkError) {
        let name = Array(name.utf8)
        let given = host.map { Array($0.utf8) }
        if let given {
            let isV6 = given.contains(UInt8(ascii: ":"))
            self.host = try isV6 ? Self.v6Host(given.span) : Self.host(given.span)
        } else {
            self.host = nil
        }
        guard port > 0 else { throw .port }
        self.port = port
        self.name = try Self.name(name.span)
        self.opening = opening
    }

    public init(_ text: String) throws(ChannelLinkError) {
        let bytes = Array(text.utf8)
        try self.init(parsing: bytes.span)
    }

    /// Parses a link. Accepts any bytes; throws the first error found.
    public init(parsing text: Span<UInt8>) throws(ChannelLinkError) {
        guard text.count <= Self.maximumByteCount else { throw .tooLong }
        for index in text.indices where !(0x21...0x7E).contains(text[index]) { throw .character }
        let scheme = "tenfour://".utf8
        guard text.count > scheme.count, zip(0..., scheme).allSatisfy({ text[$0] | 0x20 == $1 | 0x20 }) else {
            throw .scheme
        }
        let rest = text.extracting(scheme.count...)
        guard let hash = rest.first(UInt8(ascii: "#")) else { throw .noSecret }
        let front = rest.extracting(..<hash)
        guard let slash = front.first(UInt8(ascii: "/")) else { throw .name }
        name = try Self.name(front.extracting((slash + 1)...))
        (host, port) = try Self.hostAndPort(front.extracting(..<slash))
        opening = try Self.opening(rest.extracting((hash + 1)...))
    }

    /// Returns the whole link with its secret. Show this text only to people who may join the channel.
    public func text(_ form: Form = .letters) -> String {
        switch opening {
        case .secret(let secret):
            "\(place)#\(secret.kind.rawValue)-\(form == .letters ? secret.letters : secret.words)"
        case .passphrase(let passphrase): "\(place)#phrase-\(passphrase.linkText)"
        }
    }

    /// The part of the link before the `#`, without the secret.
    public var place: String {
        let host = host.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""
        return "tenfour://\(host)\(port == Self.defaultPort ? "" : ":\(port)")/\(name)"
    }

    /// Parses `HOST[:PORT]`, written as in a link. The port is 5004 if it is missing.
    public static func hostAndPort(_ text: String) throws(ChannelLinkError) -> (host: String, port: UInt16) {
        let bytes = Array(text.utf8)
        let (host, port) = try hostAndPort(bytes.span)
        guard let host else { throw .host }
        return (host, port)
    }

    /// Checks a channel's name, and returns it in small letters, as it is used in links and for deriving keys.
    public static func channelName(_ text: String) throws(ChannelLinkError) -> String {
        let bytes = Array(text.utf8)
        return try name(bytes.span)
    }

    /// The relay's id in JOIN; nil if the link has no host.
    public var relay: RelayID? { host.map { RelayID(host: $0, port: port) } }
}

extension ChannelLink: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { place + "#…" }
    public var debugDescription: String { description }
}

// MARK: Parsing

extension ChannelLink {
    private static func hostAndPort(_ text: Span<UInt8>) throws(ChannelLinkError) -> (String?, UInt16) {
        var hostEnd = text.count
        if text.count > 0, text[0] == UInt8(ascii: "[") {
            guard let bracket = text.first(UInt8(ascii: "]")) else { throw .host }
            hostEnd = bracket + 1
        } else if let colon = text.first(UInt8(ascii: ":")) {
            hostEnd = colon
        }
        var port = defaultPort
        if hostEnd < text.count {
            guard text[hostEnd] == UInt8(ascii: ":") else { throw .host }
            port = try Self.port(text.extracting((hostEnd + 1)...))
        }
        guard hostEnd > 0 else { return (nil, port) }
        let isV6 = text[0] == UInt8(ascii: "[")
        return (try isV6 ? v6Host(text.extracting(1..<(hostEnd - 1))) : host(text.extracting(..<hostEnd)), port)
    }

    private static func port(_ text: Span<UInt8>) throws(ChannelLinkError) -> UInt16 {
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
        guard let host = small(text, { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") })
        else {
            throw .host
        }
        return host
    }

    private static func v6Host(_ text: Span<UInt8>) throws(ChannelLinkError) -> String {
        guard (2...45).contains(text.count) else { throw .host }
        let host = small(text) {
            $0.hexadecimal != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
        }
        guard let host, host.contains(":") else { throw .host }
        return host
    }

    static func name(_ text: Span<UInt8>) throws(ChannelLinkError) -> String {
        guard (1...32).contains(text.count), text[0].isLetterOrDigit else { throw .name }
        let name = small(text) {
            $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
        }
        guard let name else { throw .name }
        return name
    }

    private static func opening(_ text: Span<UInt8>) throws(ChannelLinkError) -> Opening {
        guard text.count > 0 else { throw .noSecret }
        guard let hyphen = text.first(UInt8(ascii: "-")) else { throw .marker }
        let rest = text.extracting((hyphen + 1)...)
        switch small(text.extracting(..<hyphen), { $0.isLetterOrDigit }) {
        case "talk": return .secret(try Secret(.talk, parsing: rest))
        case "listen": return .secret(try Secret(.listen, parsing: rest))
        case "phrase": return .passphrase(try Passphrase(linkText: rest))
        default: throw .marker
        }
    }

    /// Returns `text` with capitals converted to small letters; nil if `isAllowed` rejects a byte.
    private static func small(_ text: Span<UInt8>, _ isAllowed: (UInt8) -> Bool) -> String? {
        var bytes: [UInt8] = []
        for index in text.indices {
            guard isAllowed(text[index]) else { return nil }
            bytes.append((0x41...0x5A).contains(text[index]) ? text[index] | 0x20 : text[index])
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Passphrase {
    /// Parses `TAG-PASSPHRASE`: 8 base32 digits, a hyphen, and the percent-encoded passphrase.
    fileprivate init(linkText text: Span<UInt8>) throws(ChannelLinkError) {
        guard text.count > 9, text[8] == UInt8(ascii: "-") else { throw .tag }
        var tag: UInt64 = 0
        for index in 0..<8 {
            guard let value = Base32.value(of: text[index]) else { throw .tag }
            tag = tag << 5 | UInt64(value)
        }
        var bytes: [UInt8] = []
        var index = 9
        while index < text.count {
            if text[index] == UInt8(ascii: "%") {
                guard index + 2 < text.count, let high = text[index + 1].hexadecimal,
                    let low = text[index + 2].hexadecimal
                else { throw .percent }
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        do {
            try self.init(bytes.span, tag: tag)
        } catch {
            throw .passphrase(error)
        }
    }

    fileprivate var linkText: String {
        var text: [UInt8] = (0..<8).map { Base32.alphabet[Int(tag >> (35 - 5 * $0) & 31)] } + [UInt8(ascii: "-")]
        self.text.withBytes { bytes in
            for index in bytes.indices {
                let byte = bytes[index]
                if byte == UInt8(ascii: " ") {
                    text.append(UInt8(ascii: "-"))
                } else if byte.isLetterOrDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~") {
                    text.append(byte)
                } else {
                    text.append(contentsOf: "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
                }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Span<UInt8> {
    fileprivate func first(_ byte: UInt8) -> Int? {
        for index in indices where self[index] == byte { return index }
        return nil
    }
}

extension UInt8 {
    fileprivate var digit: Int? { (0x30...0x39).contains(self) ? Int(self) - 0x30 : nil }
    fileprivate var isLetterOrDigit: Bool { digit != nil || (0x61...0x7A).contains(self | 0x20) }
    fileprivate var hexadecimal: UInt8? {
        if let digit { return UInt8(digit) }
        return (0x61...0x66).contains(self | 0x20) ? (self | 0x20) - 0x61 + 10 : nil
    }
}
