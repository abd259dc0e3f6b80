private import CSodium
internal import TenfourChannelKeys

/// A SHA-512 (RFC 6234) of several byte strings. The C functions are `crypto_hash_sha512_init`, `_update` and `_final`.
struct SHA512 {
    private var state = crypto_hash_sha512_state()

    static let byteCount = 64

    init() { _ = unsafe crypto_hash_sha512_init(&state) }

    mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            _ = unsafe crypto_hash_sha512_update(&state, bytes.baseAddress, UInt64(bytes.count))
        }
    }

    /// Adds the length of `bytes` in LEB128, and then `bytes`: CPace's `prepend_len`.
    mutating func updateWithLength(_ bytes: Span<UInt8>) {
        update(LEB128.bytes(bytes.count).span)
        update(bytes)
    }

    /// Returns the digest of 64 bytes, and zeroes what was hashed. Call it once.
    mutating func finish() -> SecretBytes {
        let digest = SecretBytes(count: Self.byteCount) { output in
            unsafe output.withUnsafeMutableBufferPointer { output in
                _ = unsafe crypto_hash_sha512_final(&state, output.baseAddress!)
            }
        }
        unsafe sodium_memzero(&state, MemoryLayout<crypto_hash_sha512_state>.size)
        return digest
    }

    /// The number of bytes that `updateWithLength` adds for `count` bytes.
    static func byteCount(withLength count: Int) -> Int { LEB128.bytes(count).count + count }
}

/// Unsigned integers in groups of seven bits, least significant first (LEB128).
enum LEB128 {
    static func bytes(_ number: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = UInt(number)
        repeat {
            bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return bytes
    }
}
