/// The part of a link by which a member recognises the relay's static key, and the channel's owner
/// (Protocol/13-members.md): 16 bytes, written as 26 base32 digits.
public struct RelayFingerprint: Hashable, Sendable {
    private let rawValue: UInt128

    static let digitCount = 26
    private static let byteCount = 16

    public init(relay: RelayPublicKey, owner: OwnerHash) {
        let bytes = label("tenfour 1 fingerprint") {
            relay.point.write(into: &$0)
            owner.write(into: &$0)
        }
        rawValue = sha256(bytes.span).span.number(at: 0)
    }

    /// The fingerprint in the links of a channel without an owner.
    public init(relay: RelayPublicKey, ownerless keys: ChannelKeys) {
        self.init(relay: relay, owner: OwnerHash(ownerless: keys.listenJoin))
    }

    /// Parses 26 base32 digits with hyphens anywhere.
    init(parsing text: Span<UInt8>) throws(ChannelLinkError) {
        var digits: [UInt8] = []
        for index in text.indices where text[index] != UInt8(ascii: "-") {
            guard digits.count < Self.digitCount else { throw .fingerprint }
            digits.append(text[index])
        }
        guard let bytes = Base32.bytes(digits.span, count: Self.byteCount) else { throw .fingerprint }
        rawValue = bytes.withBytes { $0.number(at: 0) }
    }

    /// The 26 digits in groups of four, with hyphens between them.
    public var text: String {
        let bytes = [UInt8](capacity: Self.byteCount) { $0.append(number: rawValue) }
        let digits = Array(Base32.text(of: bytes.span))
        return stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<min($0 + 4, digits.count)]) }
            .joined(separator: "-")
    }
}

/// Stands for the owner of a channel in its relay's COOKIE2, so that the fingerprint in a link covers the owner.
public struct OwnerHash: Hashable, Sendable {
    private let value: Bytes32

    /// The value that stands for no owner. Only members and relays of the channel can compute it, so a stranger cannot
    /// tell whether a relay has the channel.
    public init(ownerless key: JoinKey) {
        precondition(key.role == .listen, "all members know the join key of listeners")
        self.init(HKDF.expand(key.bytes, "no owner", count: Bytes32.byteCount))
    }

    init(_ bytes: SecretBytes) { value = bytes.withBytes { Bytes32($0, at: 0) } }

    init(parsing bytes: Span<UInt8>, at offset: Int) { value = Bytes32(bytes, at: offset) }

    /// `value` is the hash of the owner's key.
    package init(_ value: Bytes32) { self.value = value }

    func write(into bytes: inout OutputSpan<UInt8>) { value.write(into: &bytes) }

    package var bytes: Bytes32 { value }
}

/// The relay that a link's fingerprint demands.
public struct ExpectedRelay: Sendable, Hashable {
    private let fingerprint: RelayFingerprint
    private let noOwner: OwnerHash

    public init(_ fingerprint: RelayFingerprint, of keys: ChannelKeys) {
        self.fingerprint = fingerprint
        noOwner = OwnerHash(ownerless: keys.listenJoin)
    }

    /// Whether a channel with this owner hash is managed.
    func isManaged(_ owner: OwnerHash) -> Bool { owner != noOwner }

    /// Returns the reason why COOKIE2 with these values is not from the expected relay, or not of a channel that the member
    /// can join; nil if they are right. A channel with an owner admits only members with an identity.
    func doubt(about key: RelayPublicKey, _ owner: OwnerHash, hasIdentity: Bool) -> RelayDoubt? {
        guard RelayFingerprint(relay: key, owner: owner) == fingerprint else { return .otherKey }
        return owner == noOwner || hasIdentity ? nil : .owner
    }
}

/// The reason why a member with a fingerprint in its link does not join. It is a hint: anybody on the path may have
/// sent what caused it.
public enum RelayDoubt: Hashable, Sendable {
    /// The relay has shown another key than the one in the link.
    case otherKey
    /// The relay has no key, or is too old to prove itself.
    case noKey
    /// The channel has an owner, who admits only members with an identity, and this member has none.
    case owner
}

extension RelayDoubt: CustomStringConvertible {
    /// The text shown to people, with the remedy.
    public var description: String { "\(reason): \(remedy)" }

    public var reason: String {
        switch self {
        case .otherKey: "the relay's key is not the one in the link"
        case .noKey: "the relay cannot prove who it is, as this link demands"
        case .owner: "the channel has an owner, who must add you"
        }
    }

    public var remedy: String {
        switch self {
        case .otherKey:
            "somebody may pretend to be the relay; if its operator has changed its key, ask for a new link"
        case .noKey: "update tenfour at the relay, and set relay-key in its configuration"
        case .owner: "send the owner the line that `tenfour id` prints"
        }
    }
}
