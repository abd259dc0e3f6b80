private import CSodium
public import TenfourChannelKeys

/// The public key of an identity: an Ed25519 key, from which its X25519 key follows (Protocol/13-members.md).
public struct IdentityKey: Hashable, Sendable {
    /// The Ed25519 public key.
    public let bytes: Bytes32
    /// The X25519 public key, with which members seal group secrets and join.
    public let agreementKey: Bytes32

    public static let byteCount = 32

    /// Returns nil unless `bytes` is a point of the main subgroup in its only encoding, which a key made from a seed
    /// always is. The check takes about as long as a signature. The C functions are `crypto_core_ed25519_is_valid_point`
    /// and `crypto_sign_ed25519_pk_to_curve25519`.
    public init?(_ bytes: Bytes32) {
        let point = bytes.bytes
        var agreement = InlineArray<32, UInt8>(repeating: 0)
        var output = agreement.mutableSpan
        let isValid = unsafe point.span.withUnsafeBufferPointer { point in
            unsafe output.withUnsafeMutableBufferPointer { output in
                unsafe crypto_core_ed25519_is_valid_point(point.baseAddress!) == 1
                    && crypto_sign_ed25519_pk_to_curve25519(output.baseAddress!, point.baseAddress!) == 0
            }
        }
        guard isValid else { return nil }
        self.bytes = bytes
        agreementKey = Bytes32(agreement.span)
    }

    /// Reads the key from 52 base32 digits, the form of an owner in a relay's configuration; returns nil for any other text.
    public init?(configurationText text: String) {
        let digits = Array(text.utf8)
        guard let bytes = Base32.bytes(digits.span, count: Self.byteCount) else { return nil }
        self.init(bytes.withBytes { Bytes32($0) })
    }

    /// The key as 52 base32 digits.
    public var configurationText: String {
        let key = bytes.bytes
        return Base32.text(of: key.span)
    }

    /// Whether the owner of this key has signed `message`. The C function is `crypto_sign_verify_detached`.
    func hasSigned(_ message: SignedMessage, _ signature: Signature) -> Bool {
        let (key, signature) = (bytes.bytes, signature.bytes)
        return unsafe key.span.withUnsafeBufferPointer { key in
            unsafe signature.span.withUnsafeBufferPointer { signature in
                unsafe message.bytes.span.withUnsafeBufferPointer { message in
                    unsafe crypto_sign_verify_detached(
                        signature.baseAddress!, message.baseAddress!, UInt64(message.count), key.baseAddress!) == 0
                }
            }
        }
    }

    /// The owner hash of a managed channel whose owner has this key.
    public var ownerHash: Bytes32 { Self.ownerHash(of: bytes) }

    static func ownerHash(of key: Bytes32) -> Bytes32 {
        Bytes32(hashing: (label("tenfour 1 owner") + key.bytes.array).span)
    }

    /// Four words by which two people compare the key aloud. They are slow to compute, 0.1 s and 64 MiB, so that
    /// another key with the same words is expensive to search for: 40 bits of Argon2id. Throws if there is not enough
    /// memory. The C function is `crypto_pwhash`.
    public func comparisonWords() throws(ComparisonWordsError) -> [String] {
        let salt = sha256(label("tenfour 1 verify").span)
        let password = bytes.bytes
        var hash = InlineArray<32, UInt8>(repeating: 0)
        var output = hash.mutableSpan
        let code = unsafe output.withUnsafeMutableBytes { output in
            unsafe password.span.withUnsafeBytes { password in
                unsafe salt.span.withUnsafeBufferPointer { salt in
                    unsafe crypto_pwhash(
                        output.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(output.count),
                        password.baseAddress!.assumingMemoryBound(to: CChar.self), UInt64(password.count),
                        salt.baseAddress!, 3, 64 << 20, crypto_pwhash_ALG_ARGON2ID13)
                }
            }
        }
        guard code == 0 else { throw .outOfMemory }
        return (0..<4).map { SecretWords.all[hash.span.bits($0, count: 10)] }
    }
}

/// The reason why there are no words to compare.
public enum ComparisonWordsError: Error, Hashable, Sendable, CustomStringConvertible {
    case outOfMemory

    public var description: String {
        "the words of a key need 64 MiB of memory, which is not available; end other programs"
    }
}

extension InlineArray<32, UInt8> {
    var array: [UInt8] { indices.map { self[$0] } }
}

extension Span<UInt8> {
    /// Returns the number in `count` bits, beginning at bit `place * count`, most significant bit first. Bits beyond
    /// the end are zero.
    func bits(_ place: Int, count: Int) -> Int {
        (place * count..<(place + 1) * count).reduce(0) { number, position in
            let byte = position / 8 < self.count ? self[position / 8] : 0
            return number << 1 | Int(byte >> (7 - position % 8) & 1)
        }
    }
}
