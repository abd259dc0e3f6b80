private import CSodium
public import TenfourChannelKeys

/// A member's key pair: an Ed25519 pair for signing, made from a random seed of 32 bytes, and the X25519 pair that
/// follows from it (Protocol/13-members.md). The secret parts are in locked memory.
public struct MemberIdentity: Sendable {
    /// The public part, which others may know.
    public let key: IdentityKey
    private let seed: LockedBytes
    /// libsodium's form of the secret key: the seed, then the public key.
    private let signingKey: LockedBytes
    private let agreementSecret: LockedBytes

    public static let seedByteCount = 32

    /// Makes a random identity. `generator` must be unpredictable: the system's generator, outside tests.
    public init(using generator: inout some RandomNumberGenerator) {
        self.init(seed: LockedBytes(count: Self.seedByteCount, using: &generator))
    }

    /// Derives the identity from a seed of 32 bytes. The C functions are `crypto_sign_seed_keypair` and
    /// `crypto_sign_ed25519_sk_to_curve25519`.
    public init(seed: LockedBytes) {
        precondition(seed.count == Self.seedByteCount)
        var publicKey = InlineArray<32, UInt8>(repeating: 0)
        var output = publicKey.mutableSpan
        let signingKey = LockedBytes(count: 64) { secret in
            unsafe secret.withUnsafeMutableBufferPointer { secret in
                unsafe output.withUnsafeMutableBufferPointer { output in
                    seed.withBytes { seed in
                        unsafe seed.withUnsafeBufferPointer { seed in
                            _ = unsafe crypto_sign_seed_keypair(
                                output.baseAddress!, secret.baseAddress!, seed.baseAddress!)
                        }
                    }
                }
            }
        }
        agreementSecret = LockedBytes(count: 32) { secret in
            unsafe secret.withUnsafeMutableBufferPointer { secret in
                signingKey.withBytes { signing in
                    unsafe signing.withUnsafeBufferPointer { signing in
                        _ = unsafe crypto_sign_ed25519_sk_to_curve25519(secret.baseAddress!, signing.baseAddress!)
                    }
                }
            }
        }
        self.seed = seed
        self.signingKey = signingKey
        guard let key = IdentityKey(Bytes32(publicKey.span)) else {
            preconditionFailure("a key that was made from a seed is in the main subgroup")
        }
        self.key = key
    }

    /// Signs `message`. The C function is `crypto_sign_detached`.
    func sign(_ message: SignedMessage) -> Signature {
        let bytes = [UInt8](capacity: Signature.byteCount) { output in
            unsafe output.withUnsafeMutableBufferPointer { output, count in
                signingKey.withBytes { key in
                    unsafe key.withUnsafeBufferPointer { key in
                        unsafe message.bytes.span.withUnsafeBufferPointer { message in
                            _ = unsafe crypto_sign_detached(
                                output.baseAddress!, nil, message.baseAddress!, UInt64(message.count),
                                key.baseAddress!)
                        }
                    }
                }
                count = Signature.byteCount
            }
        }
        return Signature(parsing: bytes.span, at: 0)
    }

    /// The X25519 pair, with which the member joins a channel that has an owner.
    public var agreementPair: KeyShare { KeyShare(agreementSecret.withBytes { SecretBytes(copying: $0) }) }

    /// Returns the shared secret of this identity and `other`, 32 bytes.
    package func agreement(with other: IdentityKey) -> SecretBytes? {
        X25519.agreement(agreementSecret, other.agreementKey)
    }

    /// Calls `body` with the seed, 32 bytes, which are valid only while it runs.
    func withSeed<Result>(_ body: (Span<UInt8>) -> Result) -> Result { seed.withBytes(body) }
}

extension MemberIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(identity)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// X25519 (RFC 7748) with keys in locked memory.
enum X25519 {
    /// Returns the public key of `secret`. The C function is `crypto_scalarmult_base`.
    static func publicKey(of secret: LockedBytes) -> Bytes32 {
        var point = InlineArray<32, UInt8>(repeating: 0)
        var output = point.mutableSpan
        unsafe output.withUnsafeMutableBufferPointer { output in
            secret.withBytes { secret in
                unsafe secret.withUnsafeBufferPointer { secret in
                    _ = unsafe crypto_scalarmult_base(output.baseAddress!, secret.baseAddress!)
                }
            }
        }
        return Bytes32(point.span)
    }

    /// Returns the shared secret, 32 bytes; nil if `other` is a point of low order. The C function is
    /// `crypto_scalarmult`.
    static func agreement(_ secret: LockedBytes, _ other: Bytes32) -> SecretBytes? {
        let point = other.bytes
        var isGood = false
        let agreed = SecretBytes(count: 32) { output in
            unsafe output.withUnsafeMutableBufferPointer { output in
                secret.withBytes { secret in
                    unsafe secret.withUnsafeBufferPointer { secret in
                        unsafe point.span.withUnsafeBufferPointer { point in
                            isGood =
                                unsafe crypto_scalarmult(
                                    output.baseAddress!, secret.baseAddress!, point.baseAddress!) == 0
                        }
                    }
                }
            }
        }
        return isGood ? agreed : nil
    }
}
