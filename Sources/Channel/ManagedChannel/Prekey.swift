public import TenfourChannelKeys

/// An X25519 public key to which the next group secret is sealed for one member, signed by that member. Its secret part
/// is erased soon after, so that nobody can open a recorded group secret later.
public struct Prekey: Hashable, Sendable {
    /// The seconds since 1970 at which the prekey was drawn, or one more than the member's last id if that is higher.
    public let id: UInt32
    public let point: Bytes32
    private let signature: Signature

    static let byteCount = 100

    /// Parses 100 bytes; nil if they are zero, which stands for no prekey. Traps if `bytes` is too short.
    init?(parsing bytes: Span<UInt8>, at offset: Int) {
        guard !bytes.isZero(in: offset..<offset + Self.byteCount) else { return nil }
        id = bytes.number(at: offset)
        point = Bytes32(bytes, at: offset + 4)
        signature = Signature(parsing: bytes, at: offset + 36)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: id)
        point.write(into: &bytes)
        signature.write(into: &bytes)
    }

    package init(id: UInt32, point: Bytes32, index: UInt16, by identity: MemberIdentity, channelID: UInt128) {
        self.id = id
        self.point = point
        signature = identity.sign(Self.message(id, point, index, channelID))
    }

    /// Whether the member with this key and index has signed the prekey, for this channel.
    func isSigned(by key: IdentityKey, index: UInt16, channelID: UInt128) -> Bool {
        key.hasSigned(Self.message(id, point, index, channelID), signature)
    }

    private static func message(_ id: UInt32, _ point: Bytes32, _ index: UInt16, _ channelID: UInt128) -> SignedMessage
    {
        SignedMessage("tenfour 1 prekey", channelID: channelID) {
            $0.append(number: index)
            $0.append(number: id)
            point.write(into: &$0)
        }
    }
}

/// A prekey with its secret part, which only its member has.
public struct PrekeyPair: Sendable {
    public let id: UInt32
    let point: Bytes32
    let secret: LockedBytes
    /// The time at which it was drawn, in seconds since 1970 by the member's clock.
    let drawn: UInt64

    /// A prekey is erased at this age, in seconds, even if nothing newer has come.
    static let maximumAge: UInt64 = 7 * 86_400

    /// `secret` are 32 random bytes.
    init(id: UInt32, secret: LockedBytes, drawn: UInt64) {
        self.id = id
        self.secret = secret
        self.drawn = drawn
        point = X25519.publicKey(of: secret)
    }

    func signed(by identity: MemberIdentity, index: UInt16, channelID: UInt128) -> Prekey {
        Prekey(id: id, point: point, index: index, by: identity, channelID: channelID)
    }
}
