private import CSodium
internal import TenfourChannelKeys

/// One party's run of CPace, which turns a password that two parties share into a strong key. Nobody else learns the
/// key, or can check a guess at the password without another run.
///
/// It is draft-irtf-cfrg-cpace-21 with the suite CPACE-RISTR255-SHA512 in the initiator-responder setting. The group is
/// libsodium's ristretto255 (RFC 9496).
struct CPace: Sendable {
    /// The public share that is sent to the other party: 32 bytes.
    let share: [UInt8]
    private let scalar: SecretBytes
    private let session: [UInt8]

    enum Role: Sendable { case initiator, responder }

    static let shareByteCount = 32
    static let scalarByteCount = 32
    private static let name = Array("CPaceRistretto255".utf8)
    /// The bytes that SHA-512 processes in one step (`H.s_in_bytes`).
    private static let blockByteCount = 128

    /// Begins a run. `scalar` are 32 random bytes that are never used again; `channel` is the draft's CI and `session`
    /// its sid.
    init(password: [UInt8], channel: [UInt8], session: [UInt8], scalar random: SecretBytes) {
        // The draft's sample_scalar: clears the bits above the size of the group, 252 bits.
        let scalar = random.withBytes { random in
            SecretBytes(count: Self.scalarByteCount) { bytes in
                for index in bytes.indices { bytes[index] = random[index] }
                bytes[bytes.count - 1] &= 0x0F
            }
        }
        self.scalar = scalar
        self.session = session
        let generator = Self.generator(password: password, channel: channel, session: session)
        let product = generator.withBytes { Self.multiply($0, by: scalar) }
        guard let product else { preconditionFailure("a random scalar of zero, or a generator without order") }
        share = product.withBytes { product in product.indices.map { product[$0] } }
    }

    /// Returns the key that both parties have if their passwords, channel, session and shares are the same (the draft's
    /// ISK): 64 bytes. Returns nil if `other` does not encode an element of the group, or encodes the neutral element;
    /// the run must then end. The data are the draft's ADa and ADb.
    func key(with other: Span<UInt8>, as role: Role, data: [UInt8] = [], otherData: [UInt8] = []) -> SecretBytes? {
        guard other.count == Self.shareByteCount, let secret = Self.multiply(other, by: scalar) else { return nil }
        var hash = SHA512()
        hash.updateWithLength((Self.name + Array("_ISK".utf8)).span)
        hash.updateWithLength(session.span)
        secret.withBytes { hash.updateWithLength($0) }
        if role == .initiator {
            hash.updateWithLength(share.span)
            hash.updateWithLength(data.span)
        }
        hash.updateWithLength(other)
        hash.updateWithLength(otherData.span)
        if role == .responder {
            hash.updateWithLength(share.span)
            hash.updateWithLength(data.span)
        }
        return hash.finish()
    }

    /// The draft's `calculate_generator`, encoded. The C function is `crypto_core_ristretto255_from_hash`.
    static func generator(password: [UInt8], channel: [UInt8], session: [UInt8]) -> SecretBytes {
        let filled = SHA512.byteCount(withLength: password.count) + SHA512.byteCount(withLength: name.count) + 1
        var hash = SHA512()
        hash.updateWithLength(name.span)
        hash.updateWithLength(password.span)
        hash.updateWithLength([UInt8](repeating: 0, count: max(0, blockByteCount - filled)).span)
        hash.updateWithLength(channel.span)
        hash.updateWithLength(session.span)
        let digest = hash.finish()
        return SecretBytes(count: shareByteCount) { point in
            unsafe point.withUnsafeMutableBufferPointer { point in
                digest.withBytes { digest in
                    unsafe digest.withUnsafeBufferPointer { digest in
                        _ = unsafe crypto_core_ristretto255_from_hash(point.baseAddress!, digest.baseAddress!)
                    }
                }
            }
        }
    }

    /// The draft's `scalar_mult_vfy`; nil instead of the neutral element. The C function is
    /// `crypto_scalarmult_ristretto255`.
    static func multiply(_ point: Span<UInt8>, by scalar: SecretBytes) -> SecretBytes? {
        guard point.count == shareByteCount, scalar.count == scalarByteCount else { return nil }
        var isGood = false
        let product = SecretBytes(count: shareByteCount) { output in
            unsafe output.withUnsafeMutableBufferPointer { output in
                scalar.withBytes { scalar in
                    unsafe scalar.withUnsafeBufferPointer { scalar in
                        unsafe point.withUnsafeBufferPointer { point in
                            isGood =
                                unsafe crypto_scalarmult_ristretto255(
                                    output.baseAddress!, scalar.baseAddress!, point.baseAddress!) == 0
                        }
                    }
                }
            }
        }
        return isGood ? product : nil
    }
}
