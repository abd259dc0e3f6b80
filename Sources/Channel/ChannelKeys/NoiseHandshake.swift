// Noise_IKpsk2_25519_ChaChaPoly_SHA256 (Noise revision 34): the initiator knows the responder's static key, both know a
// pre-shared key, and the responder learns the initiator's static key.

/// The initiator's side, after it has made message 1.
struct NoiseInitiator: Sendable {
    /// Message 1: an ephemeral key (32 bytes), the sealed static key (48), and the sealed payload.
    let message: [UInt8]
    private let state: NoiseSymmetricState
    private let staticKey: KeyShare
    private let ephemeral: KeyShare

    /// Makes message 1. `ephemeral` must be a new random pair for each message, because each message seals with the keys
    /// that follow from it. Returns nil if `responder` is a point of low order.
    init?(
        prologue: Span<UInt8>, staticKey: KeyShare, ephemeral: KeyShare, responder: SharePoint, payload: Span<UInt8>
    ) {
        guard let es = ephemeral.agreement(with: responder), let ss = staticKey.agreement(with: responder) else {
            return nil
        }
        var state = NoiseSymmetricState(noiseWith: responder, prologue: prologue)
        message = [UInt8](capacity: NoiseMessage.firstByteCount + payload.count) { message in
            ephemeral.point.write(into: &message)
            state.mix(ephemeral.point)
            es.withBytes { state.mixKey($0) }
            state.encrypt(staticKey.point.bytes.span, into: &message)
            ss.withBytes { state.mixKey($0) }
            state.encrypt(payload, into: &message)
        }
        self.state = state
        self.staticKey = staticKey
        self.ephemeral = ephemeral
    }

    /// Opens message 2. Returns nil if it is not the answer to message 1 of somebody who has the responder's static
    /// key and `presharedKey`.
    func open(_ answer: Span<UInt8>, presharedKey: SecretBytes) -> (payload: [UInt8], keys: NoiseKeys)? {
        guard answer.count >= NoiseMessage.secondByteCount else { return nil }
        let point = SharePoint(parsing: answer, at: 0)
        guard let ee = ephemeral.agreement(with: point), let se = staticKey.agreement(with: point) else { return nil }
        var state = state
        state.mix(point)
        for agreed in [ee, se] { agreed.withBytes { state.mixKey($0) } }
        presharedKey.withBytes { state.mixKeyAndHash($0) }
        return state.decrypt(answer.extracting(SharePoint.byteCount...)).map { ($0, state.keys) }
    }
}

/// The responder's side, after it has opened message 1.
struct NoiseResponder: Sendable {
    /// The initiator's static key.
    let initiator: SharePoint
    let payload: [UInt8]
    private let state: NoiseSymmetricState
    private let initiatorEphemeral: SharePoint

    /// Opens message 1 with two X25519 operations. Returns nil if it was not made for `staticKey` and `prologue`, or
    /// has a point of low order.
    init?(prologue: Span<UInt8>, staticKey: KeyShare, message: Span<UInt8>) {
        guard message.count >= NoiseMessage.firstByteCount else { return nil }
        let point = SharePoint(parsing: message, at: 0)
        guard let es = staticKey.agreement(with: point) else { return nil }
        var state = NoiseSymmetricState(noiseWith: staticKey.point, prologue: prologue)
        state.mix(point)
        es.withBytes { state.mixKey($0) }
        let sealed = message.extracting(SharePoint.byteCount..<NoiseMessage.payloadStart)
        guard let initiator = state.decrypt(sealed) else { return nil }
        self.initiator = SharePoint(parsing: initiator.span, at: 0)
        guard let ss = staticKey.agreement(with: self.initiator) else { return nil }
        ss.withBytes { state.mixKey($0) }
        guard let payload = state.decrypt(message.extracting(NoiseMessage.payloadStart...)) else { return nil }
        self.payload = payload
        self.state = state
        initiatorEphemeral = point
    }

    /// Appends message 2, an ephemeral key (32 bytes) and the sealed payload, and returns the keys. `ephemeral` must be a
    /// new random pair.
    func answer(
        _ payload: Span<UInt8>, ephemeral: KeyShare, presharedKey: SecretBytes, into message: inout OutputSpan<UInt8>
    ) -> NoiseKeys? {
        guard let ee = ephemeral.agreement(with: initiatorEphemeral), let se = ephemeral.agreement(with: initiator)
        else {
            return nil
        }
        var state = state
        ephemeral.point.write(into: &message)
        state.mix(ephemeral.point)
        for agreed in [ee, se] { agreed.withBytes { state.mixKey($0) } }
        presharedKey.withBytes { state.mixKeyAndHash($0) }
        state.encrypt(payload, into: &message)
        return state.keys
    }
}

/// Sizes of the two messages, in bytes.
enum NoiseMessage {
    /// The index of the sealed payload in message 1.
    static let payloadStart = 2 * SharePoint.byteCount + AEAD.tagByteCount
    /// Message 1 with an empty payload.
    static let firstByteCount = payloadStart + AEAD.tagByteCount
    /// Message 2 with an empty payload.
    static let secondByteCount = SharePoint.byteCount + AEAD.tagByteCount
}

extension NoiseSymmetricState {
    fileprivate init(noiseWith responder: SharePoint, prologue: Span<UInt8>) {
        self.init(protocolName: "Noise_IKpsk2_25519_ChaChaPoly_SHA256", prologue: prologue)
        mixHash(responder.bytes.span)
    }

    /// Mixes in an ephemeral key; with a pre-shared key in the handshake, also as a key.
    fileprivate mutating func mix(_ ephemeral: SharePoint) {
        mixHash(ephemeral.bytes.span)
        mixKey(ephemeral.bytes.span)
    }
}
