public import TenfourPackets

/// The keys that are derived from a channel's name and secret, each under its own label (Protocol/05-channel-keys.md).
public struct ChannelKeys: Sendable, Equatable {
    public let name: String
    /// The join key of talkers; nil if the keys come from a listen link.
    public let talkJoin: JoinKey?
    public let listenJoin: JoinKey
    public let mediaRoot: MediaRoot
    /// The secret of the channel's listen link.
    public let listenSecret: Secret

    /// With a `pass`, the join keys are those of the pass.
    public init(name: String, secret: Secret, pass: ChannelPass? = nil) {
        self.name = name
        let salt = Array("tenfour 1 channel \(name)".utf8)
        func key(_ secret: Secret) -> SecretBytes {
            secret.bytes.withBytes { HKDF.extract(salt: salt.span, secret: $0) }
        }
        switch secret.kind {
        case .talk:
            let talkKey = key(secret)
            talkJoin =
                pass?.joinKey(for: .talk)
                ?? JoinKey(.talk, HKDF.expand(talkKey, "talk join", count: JoinKey.byteCount))
            listenSecret = Secret(.listen, HKDF.expand(talkKey, "listen secret", count: Secret.byteCount))
        case .listen:
            talkJoin = nil
            listenSecret = secret
        }
        let listenKey = key(listenSecret)
        listenJoin =
            pass?.joinKey(for: .listen)
            ?? JoinKey(.listen, HKDF.expand(listenKey, "listen join", count: JoinKey.byteCount))
        mediaRoot = MediaRoot(HKDF.expand(listenKey, "media root", count: 32))
    }

    /// Derives the keys from a link. If the link contains a passphrase, this takes about 0.1 s and 64 MiB of memory.
    public init(_ link: ChannelLink) throws(PassphraseError) {
        switch link.opening {
        case .secret(let secret): self.init(name: link.name, secret: secret, pass: link.pass)
        case .passphrase(let passphrase):
            self.init(name: link.name, secret: try passphrase.talkSecret(forChannel: link.name))
        }
    }

    /// Returns the join key of a role; nil for the talk role if the keys come from a listen link.
    public func joinKey(for role: Role) -> JoinKey? { role == .talk ? talkJoin : listenJoin }
}

/// A member's permission: to talk and listen, or to listen only.
public enum Role: UInt8, Sendable, CaseIterable {
    case talk = 1
    case listen = 2
}

/// The key with which members of one role prove to the relay that they may join. Members and the relay know this key;
/// the media cannot be decrypted with it.
public struct JoinKey: Sendable, Equatable {
    public let role: Role
    /// Identifies the channel in JOIN, and the role too, unless the key is that of a pass.
    public let channelID: UInt128
    let bytes: SecretBytes

    static let byteCount = 32

    init(_ role: Role, _ bytes: SecretBytes) {
        self.init(
            role, bytes, channelID: HKDF.expand(bytes, "channel id", count: 16).withBytes { $0.number(at: 0) })
    }

    init(_ role: Role, _ bytes: SecretBytes, channelID: UInt128) {
        precondition(bytes.count == Self.byteCount)
        self.role = role
        self.bytes = bytes
        self.channelID = channelID
    }

    /// Creates a random key that no member has. A relay checks the JOIN for an unknown channel with this key, so that
    /// the check takes the same time as for a known channel.
    public init(dummyUsing generator: inout some RandomNumberGenerator) {
        self.init(.listen, SecretBytes(count: Self.byteCount, using: &generator))
    }

    /// Reads the key from the 52 base32 digits in a relay's configuration; returns nil for any other text.
    public init?(_ role: Role, configurationText text: String) {
        let digits = Array(text.utf8)
        guard let bytes = Base32.bytes(digits.span, count: Self.byteCount) else { return nil }
        self.init(role, bytes)
    }

    /// The key as 52 base32 digits. It is secret. Write this text into a relay's configuration only.
    public var configurationText: String { bytes.withBytes { Base32.text(of: $0) } }
}

/// The key from which the keys for media, announcements and member infos are derived. Only members know this key.
public struct MediaRoot: Sendable, Equatable {
    private let bytes: SecretBytes
    let announcementKey: SecretBytes

    init(_ bytes: SecretBytes) {
        self.bytes = bytes
        announcementKey = HKDF.expand(bytes, "announcement", count: 32)
    }

    /// Makes a root of 32 given bytes, as in test vectors.
    package init(copying bytes: Span<UInt8>) { self.init(SecretBytes(copying: bytes)) }

    /// Returns the SRTP master key of one sender in one epoch.
    public func masterKey(_ suite: SRTPSuite, ssrc: SSRC, epoch: Epoch) -> SRTPMasterKey {
        let text = label("srtp") {
            $0.append(suite.rawValue)
            $0.append(number: ssrc.rawValue)
            $0.append(number: epoch.rawValue)
        }
        return SRTPMasterKey(suite, HKDF.expand(bytes, text, count: suite.masterByteCount))
    }

    /// Returns the group media root of a managed channel, which takes the place of this root for media and announcements
    /// (Protocol/14-group-secrets.md). It follows from this root and a group secret of 32 bytes.
    package func groupRoot(salt: [UInt8], secret: Span<UInt8>) -> MediaRoot {
        let both = bytes.withBytes { root in
            SecretBytes(count: root.count + secret.count) { both in
                for index in root.indices { both[index] = root[index] }
                for index in secret.indices { both[root.count + index] = secret[index] }
            }
        }
        return MediaRoot(both.withBytes { HKDF.extract(salt: salt.span, secret: $0) })
    }

    /// Returns the key with which the roster that has this signature of its owner is encrypted for the relay to keep.
    package func rosterKey(signature: [UInt8]) -> SecretBytes {
        HKDF.expand(bytes, label("roster") + signature, count: 32)
    }

    /// Returns the tag of a signed announcement's bytes: the first 16 bytes of an HMAC-SHA256.
    package func announcementTag(of bytes: Span<UInt8>) -> UInt128 {
        shortMAC(key: announcementKey) { $0.update(bytes) }
    }

    /// Returns the key with which the member with this id encrypts its `MemberInfo`.
    func memberInfoKey(of id: UInt64) -> SecretBytes {
        HKDF.expand(bytes, label("member info") { $0.append(number: id) }, count: 32)
    }
}
