public import TenfourPackets

/// The keys that are derived from a channel's name and secret, each under its own label (Protocol/05-channel-keys.md).
public struct ChannelKeys: Sendable, Equatable {
    public let name: String
    /// Nil from a listen link.
    public let talkJoin: JoinKey?
    public let listenJoin: JoinKey
    public let mediaRoot: MediaRoot
    /// The secret in a listen link.
    public let listenSecret: Secret

    public init(name: String, secret: Secret) {
        self.name = name
        let salt = Array("tenfour 1 channel \(name)".utf8)
        func key(_ secret: Secret) -> SecretBytes {
            secret.bytes.withBytes { HKDF.extract(salt: salt.span, secret: $0) }
        }
        switch secret.kind {
        case .talk:
            let talkKey = key(secret)
            talkJoin = JoinKey(.talk, HKDF.expand(talkKey, "talk join", count: JoinKey.byteCount))
            listenSecret = Secret(.listen, HKDF.expand(talkKey, "listen secret", count: Secret.byteCount))
        case .listen:
            talkJoin = nil
            listenSecret = secret
        }
        let listenKey = key(listenSecret)
        listenJoin = JoinKey(.listen, HKDF.expand(listenKey, "listen join", count: JoinKey.byteCount))
        mediaRoot = MediaRoot(HKDF.expand(listenKey, "media root", count: 32))
    }

    /// From a passphrase it takes about 0.1 s and 64 MiB.
    public init(_ link: ChannelLink) throws(PassphraseError) {
        switch link.opening {
        case .secret(let secret): self.init(name: link.name, secret: secret)
        case .passphrase(let passphrase):
            self.init(name: link.name, secret: try passphrase.talkSecret(forChannel: link.name))
        }
    }

    /// Nil for the role of talking, from a listen link.
    public func joinKey(for role: Role) -> JoinKey? { role == .talk ? talkJoin : listenJoin }
}

/// A member's permission: to talk and listen, or to listen only.
public enum Role: UInt8, Sendable, CaseIterable {
    case talk = 1
    case listen = 2
}

/// By which a relay tells members of one role from strangers. Known to members and relay; nothing of the sound follows from it.
public struct JoinKey: Sendable, Equatable {
    public let role: Role
    /// Names the channel and the role in JOIN.
    public let channelID: UInt128
    let bytes: SecretBytes

    static let byteCount = 32

    init(_ role: Role, _ bytes: SecretBytes) {
        precondition(bytes.count == Self.byteCount)
        self.role = role
        self.bytes = bytes
        channelID = HKDF.expand(bytes, "channel id", count: 16).withBytes { $0.number(at: 0) }
    }

    /// A key that nobody has, for the work of refusing who names an unknown channel.
    public init(dummyUsing generator: inout some RandomNumberGenerator) {
        self.init(.listen, SecretBytes(count: Self.byteCount, using: &generator))
    }

    /// Reads the 52 digits of a relay's configuration; nil for anything else.
    public init?(_ role: Role, configurationText text: String) {
        let digits = Array(text.utf8)
        guard let bytes = Base32.bytes(digits.span, count: Self.byteCount) else { return nil }
        self.init(role, bytes)
    }

    /// The key itself: for a relay's configuration and for nothing else.
    public var configurationText: String { bytes.withBytes { Base32.text(of: $0) } }
}

/// From which all that members send each other is protected. Known to members only.
public struct MediaRoot: Sendable, Equatable {
    private let bytes: SecretBytes
    let announcementKey: SecretBytes

    init(_ bytes: SecretBytes) {
        self.bytes = bytes
        announcementKey = HKDF.expand(bytes, "announcement", count: 32)
    }

    /// One sender's key of one epoch.
    public func masterKey(_ suite: SRTPSuite, ssrc: SSRC, epoch: Epoch) -> SRTPMasterKey {
        let text = label("srtp") {
            $0.append(suite.rawValue)
            $0.append(number: ssrc.rawValue)
            $0.append(number: epoch.rawValue)
        }
        return SRTPMasterKey(suite, HKDF.expand(bytes, text, count: suite.masterByteCount))
    }

    /// Under which the member of this id seals what it tells about itself.
    func memberInfoKey(of id: UInt64) -> SecretBytes {
        HKDF.expand(bytes, label("member info") { $0.append(number: id) }, count: 32)
    }
}
