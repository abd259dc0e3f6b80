/// The keys that both sides of a session derive in the handshake, one for each direction and purpose. They are never
/// sent.
public struct SessionKeys: Sendable, Equatable {
    public let session: UInt64
    let memberControl: SecretBytes
    let relayControl: SecretBytes
    let memberHop: SecretBytes
    let relayHop: SecretBytes
    /// Whether the session began with JOIN2. Only such a session has trailers.
    let isOfProvenRelay: Bool

    /// Derives the keys. `agreed` is the shared secret of the X25519 key exchange, and `welcome` the part of WELCOME
    /// that is not encrypted.
    init(session: UInt64, agreed: SecretBytes, key: JoinKey, join: Join, welcome: Span<UInt8>) {
        var transcript = label("tenfour 1 session")
        transcript += [UInt8](capacity: Join.byteCount) { join.write(into: &$0) }
        for index in welcome.indices { transcript.append(welcome[index]) }
        let both = SecretBytes(count: 64) { both in
            agreed.withBytes { for index in 0..<32 { both[index] = $0[index] } }
            key.bytes.withBytes { for index in 0..<32 { both[32 + index] = $0[index] } }
        }
        let root = both.withBytes { HKDF.extract(salt: sha256(transcript.span).span, secret: $0) }
        self.session = session
        isOfProvenRelay = false
        memberControl = HKDF.expand(root, "member control", count: 32)
        relayControl = HKDF.expand(root, "relay control", count: 32)
        memberHop = HKDF.expand(root, "member hop", count: 16)
        relayHop = HKDF.expand(root, "relay hop", count: 16)
    }

    /// Derives the keys of a session that began with a Noise handshake. Each direction has a key of its own from the start.
    init(session: UInt64, noise: NoiseKeys) {
        func root(_ key: SecretBytes) -> SecretBytes {
            key.withBytes { HKDF.extract(salt: noise.hash.span, secret: $0) }
        }
        let (member, relay) = (root(noise.initiator), root(noise.responder))
        self.session = session
        isOfProvenRelay = true
        memberControl = HKDF.expand(member, "member control", count: 32)
        relayControl = HKDF.expand(relay, "relay control", count: 32)
        memberHop = HKDF.expand(member, "member hop", count: 16)
        relayHop = HKDF.expand(relay, "relay hop", count: 16)
    }

    /// One of the two ends of a session.
    public enum Side: Sendable { case member, relay }

    public func sealer(for side: Side) -> RecordSealer {
        RecordSealer(session: session, key: side == .member ? memberControl : relayControl)
    }

    public func opener(for side: Side) -> RecordOpener {
        RecordOpener(key: side == .member ? relayControl : memberControl)
    }

    public func hopTagger(for side: Side) -> HopTagger { HopTagger(key: side == .member ? memberHop : relayHop) }

    public func hopTagChecker(for side: Side) -> HopTagChecker {
        HopTagChecker(key: side == .member ? relayHop : memberHop)
    }

    /// The key of the relay's trailers; nil if the session has none.
    public var trailerKey: TrailerKey? { isOfProvenRelay ? TrailerKey(relayHop) : nil }
}
