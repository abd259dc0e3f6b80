/// A JOIN2 that the relay has opened with its static key.
public struct OpenedJoin: Sendable {
    private let nonce: UInt128
    private let responder: NoiseResponder

    /// The member's static key: in a managed channel the X25519 key of its identity.
    public var memberKey: Bytes32 { responder.initiator.value }

    /// Opens the Noise message in `join`. Returns nil if the message was made for another relay key, or has a point of low
    /// order. This takes two X25519 operations, so the proof of `join` must have been checked before.
    public init?(_ join: Join, by key: RelayKey) {
        guard case .noise(let request) = join.exchange else { return nil }
        let (prologue, message) = (join.prologue, request.bytes)
        guard
            let responder = NoiseResponder(prologue: prologue.span, staticKey: key.pair, message: message.span)
        else { return nil }
        nonce = join.nonce
        self.responder = responder
    }

    /// Appends the answer, a WELCOME2 of 105 bytes, and returns the session keys. Returns nil, and appends nothing, if the
    /// member's keys are of low order.
    ///
    /// `key` is the join key that proved the JOIN2; `share` and `session` (the session id) must be new random values.
    public func answer(
        key: JoinKey, share: KeyShare, session: UInt64, terms: Welcome.Terms, into datagram: inout OutputSpan<UInt8>
    ) -> SessionKeys? {
        let payload = [UInt8](capacity: Welcome2.payloadByteCount) {
            $0.append(number: session)
            terms.write(into: &$0)
        }
        var keys: NoiseKeys?
        let message = [UInt8](capacity: payload.count + NoiseMessage.secondByteCount) {
            keys = responder.answer(payload.span, ephemeral: share, presharedKey: key.bytes, into: &$0)
        }
        guard let keys else { return nil }
        datagram.append(header: .welcome2)
        datagram.append(number: nonce)
        datagram.append(message.span)
        return SessionKeys(session: session, noise: keys)
    }
}

/// WELCOME2: the answer of a relay that proves itself, which only the sender of the JOIN2 can open.
enum Welcome2 {
    static let payloadByteCount = 8 + Welcome.Terms.byteCount
    static let byteCount = messageStart + NoiseMessage.secondByteCount + payloadByteCount
    private static let messageStart = 20

    /// Opens WELCOME2 on the member's side and derives the session keys. Returns nil if the datagram is not the answer of
    /// the relay with the expected static key.
    static func open(
        _ datagram: Span<UInt8>, of initiator: NoiseInitiator, key: JoinKey
    ) -> (terms: Welcome.Terms, keys: SessionKeys)? {
        guard datagram.count == byteCount,
            let opened = initiator.open(datagram.extracting(messageStart...), presharedKey: key.bytes),
            let terms = try? Welcome.Terms(parsing: opened.payload.span, at: 8)
        else { return nil }
        return (terms, SessionKeys(session: opened.payload.span.number(at: 0), noise: opened.keys))
    }
}
