/// A member's attempt to join: writes HELLO and JOIN, and reads COOKIE, WELCOME and REFUSAL. The caller decides when to
/// send a message.
///
/// If the link has a fingerprint, the messages are HELLO2, COOKIE2, JOIN2 and WELCOME2, and the attempt never sends a JOIN
/// (Protocol/13-members.md). Datagrams that do not answer this attempt change nothing.
public struct JoinAttempt: Sendable {
    private let key: JoinKey
    private let relay: RelayID
    private let nonce: UInt128
    private let secrets: Secrets
    /// One JOIN for each cookie, oldest first. There may be several, because an attacker on the path can answer HELLO
    /// with a forged cookie before the relay.
    private var joins: [SentJoin] = []
    /// The owner's hash in the COOKIE2 of a managed channel; nil before it came, and for a channel without an owner.
    public private(set) var owner: OwnerHash?
    /// Whether a COOKIE2 with unexpected values has come. A relay that sends COOKIE2 has a key.
    private var hasDoubtedKey = false

    /// The secrets of this attempt.
    private enum Secrets {
        /// The key pair of all JOINs.
        case share(KeyShare)
        /// The key pairs of JOIN2s follow from `seed`, 32 bytes. Each JOIN2 has its own ephemeral pair, because it seals with
        /// the keys that follow from it.
        case noise(ExpectedRelay, seed: SecretBytes, identity: KeyShare?)
    }

    /// A JOIN, and for a JOIN2 the handshake that began with it.
    private struct SentJoin {
        let join: Join
        var handshake: NoiseInitiator?
    }

    /// The maximum number of different cookies that are answered with a JOIN: the relay's cookie, and forged cookies
    /// that arrived earlier. Further cookies are ignored.
    public static let maximumCookieCount = 4
    /// The length of the longest datagram, in bytes.
    public static let maximumByteCount = Join.longestByteCount

    /// Whether a COOKIE has answered HELLO. From then on, JOIN is sent instead of HELLO.
    public var hasCookie: Bool { !joins.isEmpty }
    /// The number of datagrams to repeat while there is no answer: one HELLO, or one JOIN for each cookie.
    public var datagramCount: Int { max(joins.count, 1) }
    /// Whether only a relay with the expected static key is joined.
    public var demandsRelayKey: Bool { if case .noise = secrets { true } else { false } }

    /// The result of receiving a datagram during the attempt to join.
    public enum Answer: Sendable {
        /// The datagram contains a new cookie. The caller must send the JOIN for it.
        case cookie
        case welcome(Welcome.Terms, SessionKeys)
        /// The relay refused the JOIN. The reason `unproved` is only a hint, because anybody may have sent it.
        case refusal(Refusal.Reason)
        /// The relay does not seem to be the expected one. This is only a hint, because anybody may have sent it.
        case doubt(RelayDoubt)
        /// The datagram belongs to another attempt, is a repetition, or is not authentic.
        case nothing
    }

    /// Begins an attempt to join, with a random nonce and random X25519 key pairs. If `expected` is not nil, only this relay
    /// is joined. `identity` is the X25519 pair of the member's identity, by which a channel with an owner admits it; it
    /// needs `expected`. `generator` must be unpredictable.
    public init(
        _ key: JoinKey, relay: RelayID, expecting expected: ExpectedRelay? = nil, as identity: KeyShare? = nil,
        using generator: inout some RandomNumberGenerator
    ) {
        self.key = key
        self.relay = relay
        nonce = .random(in: 0 ... .max, using: &generator)
        secrets =
            expected.map { .noise($0, seed: SecretBytes(count: 32, using: &generator), identity: identity) }
            ?? .share(KeyShare(using: &generator))
    }

    /// Appends the next datagram to send, at most `maximumByteCount` bytes: HELLO, or the JOIN for the latest cookie.
    public func write(into datagram: inout OutputSpan<UInt8>) { write(datagramCount - 1, into: &datagram) }

    /// Appends one of the datagrams to repeat, at most `maximumByteCount` bytes. `number` is its index,
    /// 0..<`datagramCount`.
    public func write(_ number: Int, into datagram: inout OutputSpan<UInt8>) {
        if joins.indices.contains(number) {
            joins[number].join.write(into: &datagram)
        } else if demandsRelayKey {
            ControlPacket.writeHello2(nonce: nonce, channelID: key.channelID, into: &datagram)
        } else {
            writeHello(into: &datagram)
        }
    }

    /// Appends the 128 bytes of a HELLO. In an attempt that demands the relay's key, only a relay that cannot prove itself
    /// answers this question alone; the answer is a hint for the user.
    public func writeHello(into datagram: inout OutputSpan<UInt8>) {
        ControlPacket.writeHello(nonce: nonce, into: &datagram)
    }

    public mutating func receive(_ datagram: Span<UInt8>) -> Answer {
        switch try? ControlPacket(parsing: datagram) {
        case .cookie(let cookie, let answered) where answered == nonce:
            guard case .share(let share) = secrets else {
                return hasCookie || hasDoubtedKey ? .nothing : .doubt(.noKey)
            }
            guard isNew(cookie) else { return .nothing }
            joins.append(
                SentJoin(join: Join(nonce: nonce, cookie: cookie, key: key, relay: relay, share: share.point)))
            return .cookie
        case .cookie2(let cookie, let answered) where answered == nonce: return receive(cookie)
        case .welcome:
            guard case .share(let share) = secrets else { return .nothing }
            return welcome { Welcome.open(datagram, to: $0.join, key: key, share: share) }
        case .welcome2(let answered) where answered == nonce:
            return welcome { sent in
                sent.handshake.flatMap { Welcome2.open(datagram, of: $0, key: key) }
            }
        case .refusal(let refusal) where refusal.nonce == nonce:
            guard !joins.isEmpty else { return .nothing }
            if refusal.reason == .unproved { return .refusal(.unproved) }
            let isAuthentic = joins.contains { refusal.isAuthentic(for: $0.join, key: key) }
            return isAuthentic ? .refusal(refusal.reason) : .nothing
        default: return .nothing
        }
    }

    private func isNew(_ cookie: Cookie) -> Bool {
        joins.count < Self.maximumCookieCount && !joins.contains { $0.join.cookie == cookie }
    }

    private func welcome(_ open: (SentJoin) -> (terms: Welcome.Terms, keys: SessionKeys)?) -> Answer {
        for sent in joins {
            if let opened = open(sent) { return .welcome(opened.terms, opened.keys) }
        }
        return .nothing
    }

    /// Makes the JOIN2 for a COOKIE2 of the expected relay.
    private mutating func receive(_ cookie: Cookie2) -> Answer {
        guard case .noise(let expected, let seed, let identity) = secrets else { return .nothing }
        if let doubt = expected.doubt(about: cookie.relay, cookie.owner, hasIdentity: identity != nil) {
            hasDoubtedKey = true
            return hasCookie ? .nothing : .doubt(doubt)
        }
        guard isNew(cookie.cookie) else { return .nothing }
        let ephemeral = KeyShare(HKDF.expand(seed, label("ephemeral") { $0.append(UInt8(joins.count)) }, count: 32))
        // A relay learns the identity of nobody in a channel without an owner.
        let isManaged = expected.isManaged(cookie.owner)
        let staticKey = (isManaged ? identity : nil) ?? KeyShare(HKDF.expand(seed, "static", count: 32))
        if isManaged { owner = cookie.owner }
        var handshake: NoiseInitiator?
        let none: [UInt8] = []
        let join = Join(nonce: nonce, cookie: cookie.cookie, key: key, relay: relay) { prologue in
            handshake = NoiseInitiator(
                prologue: prologue.span, staticKey: staticKey, ephemeral: ephemeral, responder: cookie.relay.point,
                payload: none.span)
            return handshake.map { NoiseRequest(parsing: $0.message.span, at: 0) }
        }
        guard let join else { return .nothing }
        joins.append(SentJoin(join: join, handshake: handshake))
        return .cookie
    }
}
