/// The symmetric half of a Noise handshake (Noise revision 34, section 5.2) with ChaChaPoly and SHA256: the hash of all
/// messages so far, and the keys that follow from it.
///
/// Each key encrypts one message with the nonce zero, and is forgotten afterwards.
struct NoiseSymmetricState: Sendable {
    /// The hash of the protocol's name, the prologue, and everything that was mixed in: 32 bytes.
    private(set) var hash: [UInt8]
    private var chainingKey: SecretBytes
    private var key: SecretBytes?

    /// `protocolName` must have more than 32 characters; shorter names are used as they are, which no protocol of ours
    /// needs.
    init(protocolName: StaticString, prologue: Span<UInt8>) {
        precondition(protocolName.utf8CodeUnitCount > 32, "a name of at most 32 characters is not hashed")
        let name = label(protocolName)
        let start = Self.digest(name.span)
        hash = start
        chainingKey = SecretBytes(copying: start.span)
        mixHash(prologue)
    }

    mutating func mixHash(_ bytes: Span<UInt8>) {
        var text = hash
        for index in bytes.indices { text.append(bytes[index]) }
        hash = Self.digest(text.span)
    }

    mutating func mixKey(_ input: Span<UInt8>) {
        let output = derive(input, count: 64)
        chainingKey = output.part(0..<32)
        key = output.part(32..<64)
    }

    /// Mixes in a pre-shared key of 32 bytes.
    mutating func mixKeyAndHash(_ input: Span<UInt8>) {
        let output = derive(input, count: 96)
        chainingKey = output.part(0..<32)
        output.withBytes { mixHash($0.extracting(32..<64)) }
        key = output.part(64..<96)
    }

    /// Appends `body`, encrypted with the present key, and its tag of 16 bytes. Traps if no key was mixed in since the
    /// last message.
    mutating func encrypt(_ body: Span<UInt8>, into message: inout OutputSpan<UInt8>) {
        let (key, data) = (takeKey(), hash)
        let sealed = [UInt8](capacity: body.count + AEAD.tagByteCount) { output in
            key.withBytes { AEAD.seal(body, counter: 0, data: data.span, key: $0, into: &output) }
        }
        mixHash(sealed.span)
        message.append(sealed.span)
    }

    /// Decrypts `sealed` with the present key. Returns nil if `sealed` is not authentic; this state is useless then. Traps
    /// if no key was mixed in since the last message.
    mutating func decrypt(_ sealed: Span<UInt8>) -> [UInt8]? {
        let (key, data) = (takeKey(), hash)
        var body = sealed.indices.map { sealed[$0] }
        var span = body.mutableSpan
        guard key.withBytes({ AEAD.open(&span, counter: 0, data: data.span, key: $0) }) else { return nil }
        mixHash(sealed)
        return Array(body.dropLast(AEAD.tagByteCount))
    }

    private mutating func takeKey() -> SecretBytes {
        guard let taken = key else { preconditionFailure("a key of this handshake encrypts once") }
        key = nil
        return taken
    }

    /// The keys that follow from a complete handshake.
    var keys: NoiseKeys {
        let none: [UInt8] = []
        let output = derive(none.span, count: 64)
        return NoiseKeys(initiator: output.part(0..<32), responder: output.part(32..<64), hash: hash)
    }

    private func derive(_ input: Span<UInt8>, count: Int) -> SecretBytes {
        HKDF.expand(chainingKey.withBytes { HKDF.extract(salt: $0, secret: input) }, [], count: count)
    }

    private static func digest(_ bytes: Span<UInt8>) -> [UInt8] {
        let digest = sha256(bytes)
        return digest.indices.map { digest[$0] }
    }
}

/// The result of a Noise handshake: a key for each direction, and the hash of the whole handshake.
struct NoiseKeys: Sendable, Equatable {
    /// The key for messages from the initiator, 32 bytes.
    let initiator: SecretBytes
    /// The key for messages from the responder, 32 bytes.
    let responder: SecretBytes
    /// Equal at both ends only if both have seen the same handshake, 32 bytes.
    let hash: [UInt8]
}
