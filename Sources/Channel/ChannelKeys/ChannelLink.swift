/// The link of a channel, `tenfour://HOST[:PORT][,HOST[:PORT]…]/NAME#[relay-FINGERPRINT.]SECRET`: its relays, its name, its
/// relay's fingerprint and its secret. Two stations that have paired through a relay have one with `pass-PASS.` in front of
/// the secret.
///
/// The format is in Protocol/05-channel-keys.md, that of the fingerprint in Protocol/13-members.md. `description` omits the secret; `text` contains it.
public struct ChannelLink: Sendable, Equatable {
    /// The secret after the `#` of a link: a generated secret, or a passphrase that people have chosen.
    public enum Opening: Sendable, Equatable {
        case secret(Secret)
        case passphrase(Passphrase)
    }

    /// The notation of a generated secret: letters and digits, or words.
    public enum Form: Sendable { case letters, words }

    /// The relays of the channel, in the order in which members try them; all of them act as one. If the relay runs
    /// inside an endpoint, this is the endpoint's host. It is empty in the link that such an endpoint itself uses.
    public let relays: [RelayHost]
    /// The port at which the endpoint that uses a link without a host serves the channel.
    private let ownPort: UInt16
    public let name: String
    /// Recognises the relay's static key; nil if the relay need not prove itself.
    public let fingerprint: RelayFingerprint?
    /// Gives the join keys of a channel that two stations have got by pairing through a relay; nil for other channels.
    public let pass: ChannelPass?
    public let opening: Opening

    public static let defaultPort: UInt16 = 5004
    public static let maximumByteCount = 1024
    public static let maximumRelayCount = 8

    /// `port` is used only if `relays` is empty: an endpoint then serves the channel at this port. Such a link has no
    /// `fingerprint`. A link with a `pass` has one relay, a talk secret and no `fingerprint`.
    public init(
        relays: [RelayHost], port: UInt16 = defaultPort, name: String, fingerprint: RelayFingerprint? = nil,
        pass: ChannelPass? = nil, opening: Opening
    ) throws(ChannelLinkError) {
        let name = Array(name.utf8)
        guard relays.count <= Self.maximumRelayCount else { throw .relayCount }
        guard port > 0 else { throw .port }
        guard !relays.isEmpty || fingerprint == nil else { throw .fingerprintWithoutRelay }
        self.relays = relays
        ownPort = relays.isEmpty ? port : Self.defaultPort
        self.name = try Self.name(name.span)
        self.fingerprint = fingerprint
        self.pass = pass
        self.opening = opening
        guard pass == nil || mayHavePass else { throw .passParts }
    }

    public init(
        host: String?, port: UInt16 = defaultPort, name: String, opening: Opening
    ) throws(ChannelLinkError) {
        let relays = try host.map { host throws(ChannelLinkError) in [try RelayHost(host: host, port: port)] }
        try self.init(relays: relays ?? [], port: port, name: name, opening: opening)
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
        (relays, ownPort) = try Self.relays(front.extracting(..<slash))
        let secret = rest.extracting((hash + 1)...)
        let end = try Self.end(of: Self.fingerprintMarker, in: secret, otherwise: .fingerprint)
        fingerprint = try end.map { end throws(ChannelLinkError) in
            try RelayFingerprint(parsing: secret.extracting(Self.fingerprintMarker.utf8.count..<end))
        }
        guard !relays.isEmpty || fingerprint == nil else { throw .fingerprintWithoutRelay }
        let last = secret.extracting((end.map { $0 + 1 } ?? 0)...)
        let passEnd = try Self.end(of: Self.passMarker, in: last, otherwise: .pass)
        pass = try passEnd.map { end throws(ChannelLinkError) in
            try ChannelPass(parsing: last.extracting(Self.passMarker.utf8.count..<end))
        }
        opening = try Self.opening(last.extracting((passEnd.map { $0 + 1 } ?? 0)...))
        guard pass == nil || mayHavePass else { throw .passParts }
    }

    private var mayHavePass: Bool {
        guard relays.count == 1, fingerprint == nil, case .secret(let secret) = opening else { return false }
        return secret.kind == .talk
    }

    /// Returns the whole link with its secret. Show this text only to people who may join the channel.
    public func text(_ form: Form = .letters) -> String {
        let front =
            place + "#" + (fingerprint.map { "\(Self.fingerprintMarker)\($0.text)." } ?? "")
            + (pass.map { "\(Self.passMarker)\($0.text)." } ?? "")
        switch opening {
        case .secret(let secret):
            return front + "\(secret.kind.rawValue)-\(form == .letters ? secret.letters : secret.words)"
        case .passphrase(let passphrase): return front + "phrase-\(passphrase.linkText)"
        }
    }

    /// The part of the link before the `#`, without the secret.
    public var place: String {
        let own = ownPort == Self.defaultPort ? "" : ":\(ownPort)"
        return "tenfour://\(relays.isEmpty ? own : relays.map(\.description).joined(separator: ","))/\(name)"
    }

    /// The host of the first relay; nil if the link names none.
    public var host: String? { relays.first?.name }
    /// The port of the first relay, or of the endpoint itself if the link names no relay.
    public var port: UInt16 { relays.first?.port ?? ownPort }

    /// Checks a channel's name, and returns it in small letters, as it is used in links and for deriving keys.
    public static func channelName(_ text: String) throws(ChannelLinkError) -> String {
        let bytes = Array(text.utf8)
        return try name(bytes.span)
    }
}

extension ChannelLink: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { place + "#…" }
    public var debugDescription: String { description }
}

// MARK: Parsing

extension ChannelLink {
    /// Parses the part of the link between `//` and `/`: the relays, or the port alone.
    private static func relays(_ text: Span<UInt8>) throws(ChannelLinkError) -> ([RelayHost], UInt16) {
        if text.count == 0 { return ([], defaultPort) }
        if text[0] == UInt8(ascii: ":") { return ([], try RelayHost.port(text.extracting(1...))) }
        var relays: [RelayHost] = []
        var rest = text
        while let comma = rest.first(UInt8(ascii: ",")) {
            guard relays.count < maximumRelayCount else { throw .relayCount }
            relays.append(try RelayHost(parsing: rest.extracting(..<comma)))
            rest = rest.extracting((comma + 1)...)
        }
        relays.append(try RelayHost(parsing: rest))
        guard relays.count <= maximumRelayCount else { throw .relayCount }
        return (relays, defaultPort)
    }

    static func name(_ text: Span<UInt8>) throws(ChannelLinkError) -> String {
        guard (1...32).contains(text.count), text[0].isLetterOrDigit else { throw .name }
        let name = text.small {
            $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
        }
        guard let name else { throw .name }
        return name
    }

    static let fingerprintMarker = "relay-"
    static let passMarker = "pass-"

    /// Returns the index of the full stop behind the part that begins with `marker`; nil if the text does not begin so.
    /// Throws `error` if there is no full stop.
    private static func end(
        of marker: String, in text: Span<UInt8>, otherwise error: ChannelLinkError
    ) throws(ChannelLinkError) -> Int? {
        let marker = marker.utf8
        guard text.count >= marker.count, zip(0..., marker).allSatisfy({ text[$0] | 0x20 == $1 | 0x20 }) else {
            return nil
        }
        guard let end = text.first(UInt8(ascii: ".")) else { throw error }
        return end
    }

    private static func opening(_ text: Span<UInt8>) throws(ChannelLinkError) -> Opening {
        guard text.count > 0 else { throw .noSecret }
        guard let hyphen = text.first(UInt8(ascii: "-")) else { throw .marker }
        let rest = text.extracting((hyphen + 1)...)
        switch text.extracting(..<hyphen).small({ $0.isLetterOrDigit }) {
        case "talk": return .secret(try Secret(.talk, parsing: rest))
        case "listen": return .secret(try Secret(.listen, parsing: rest))
        case "phrase": return .passphrase(try Passphrase(linkText: rest))
        default: throw .marker
        }
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
