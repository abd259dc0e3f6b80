/// Admits two stations that have paired through a relay to a channel there, of which the relay keeps nothing
/// (Protocol/05-channel-keys.md, The pass): an id of 16 random bytes, and a key that the relay derives from it.
///
/// It is secret. The relay and the channel's members know it; the media cannot be decrypted with it.
public struct ChannelPass: Sendable {
    /// The channel id in the JOINs of both roles.
    package let id: UInt128
    private let key: SecretBytes

    static let byteCount = 32
    static let keyByteCount = 16
    /// The number of base32 digits in which the pass is written.
    static let digitCount = 52

    fileprivate init(_ id: UInt128, _ key: SecretBytes) {
        precondition(key.count == Self.keyByteCount)
        self.id = id
        self.key = key
    }

    private init(_ bytes: Span<UInt8>) {
        self.init(bytes.number(at: 0), SecretBytes(copying: bytes.extracting(16..<Self.byteCount)))
    }

    /// Reads the 16 bytes of the id and the 16 of the key; returns nil for another number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        let bytes = Array(bytes)
        self.init(bytes.span)
    }

    /// Parses 52 base32 digits.
    init(parsing digits: Span<UInt8>) throws(ChannelLinkError) {
        guard let bytes = Base32.bytes(digits, count: Self.byteCount) else { throw .pass }
        self = bytes.withBytes { ChannelPass($0) }
    }

    /// The 16 bytes of the id and the 16 of the key. Send them only encrypted.
    package var bytes: [UInt8] {
        [UInt8](capacity: Self.byteCount) { bytes in
            bytes.append(number: id)
            key.withBytes { bytes.append($0) }
        }
    }

    /// The pass as 52 base32 digits. Put this text into a link only.
    var text: String {
        let bytes = bytes
        return Base32.text(of: bytes.span)
    }

    /// Returns the key with which members of a role join the channel.
    package func joinKey(for role: Role) -> JoinKey {
        let salt = label("tenfour 1 pass")
        let root = key.withBytes { HKDF.extract(salt: salt.span, secret: $0) }
        return switch role {
        case .talk: JoinKey(role, HKDF.expand(root, "talk join", count: JoinKey.byteCount), channelID: id)
        case .listen: JoinKey(role, HKDF.expand(root, "listen join", count: JoinKey.byteCount), channelID: id)
        }
    }
}

extension ChannelPass: Hashable {
    /// Compares the keys in constant time.
    public static func == (left: Self, right: Self) -> Bool { left.id == right.id && left.key == right.key }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension ChannelPass: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(pass)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Makes the passes of one relay. Each follows from its id and the relay's static key, so the relay need not keep it.
package struct PassMaker: Sendable {
    private let pairSecret: SecretBytes

    package init(_ relayKey: RelayKey) {
        let salt = label("tenfour 1 pair")
        let root = relayKey.secret.withBytes { HKDF.extract(salt: salt.span, secret: $0) }
        pairSecret = HKDF.expand(root, "pair secret", count: 32)
    }

    /// Returns the pass with this id.
    package func pass(_ id: UInt128) -> ChannelPass {
        let label = label("pass") { $0.append(number: id) }
        return ChannelPass(id, HKDF.expand(pairSecret, label, count: ChannelPass.keyByteCount))
    }

    /// Returns a pass with a random id. `generator` must be unpredictable: the system's generator, outside tests.
    package func drawPass(using generator: inout some RandomNumberGenerator) -> ChannelPass {
        pass(.random(in: 0 ... .max, using: &generator))
    }
}
