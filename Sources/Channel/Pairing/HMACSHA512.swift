private import CSodium
internal import TenfourChannelKeys

/// An HMAC-SHA512 (RFC 2104) of one byte string. The C functions are `crypto_auth_hmacsha512_init`, `_update` and
/// `_final`.
enum HMACSHA512 {
    /// Returns the first `count` bytes of the tag, 1…64. `key` must not be empty.
    static func tag(of bytes: [UInt8], key: SecretBytes, count: Int) -> SecretBytes {
        precondition(key.count > 0 && (1...64).contains(count), "a key, and at most the whole tag")
        var state = crypto_auth_hmacsha512_state()
        key.withBytes { key in
            unsafe key.withUnsafeBufferPointer { key in
                _ = unsafe crypto_auth_hmacsha512_init(&state, key.baseAddress!, key.count)
            }
        }
        unsafe bytes.withUnsafeBufferPointer { bytes in
            _ = unsafe crypto_auth_hmacsha512_update(&state, bytes.baseAddress, UInt64(bytes.count))
        }
        let tag = SecretBytes(count: SHA512.byteCount) { output in
            unsafe output.withUnsafeMutableBufferPointer { output in
                _ = unsafe crypto_auth_hmacsha512_final(&state, output.baseAddress!)
            }
        }
        unsafe sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha512_state>.size)
        return tag.withBytes { SecretBytes(copying: $0.extracting(0..<count)) }
    }
}
