private import CSodium

/// Key derivation by HKDF-SHA256 (RFC 5869), composed from libsodium's HMAC-SHA256.
public enum HKDF {
    /// Extract (RFC 5869 section 2.2): derives a pseudorandom key of 32 bytes from `secret`.
    public static func extract(salt: Span<UInt8>, secret: Span<UInt8>) -> SecretBytes {
        var key = hmac(key: salt) { $0.update(secret) }
        defer { zero(&key) }
        return SecretBytes(count: 32) { for index in 0..<32 { $0[index] = key[index] } }
    }

    /// Expand (RFC 5869 section 2.3): derives `count` bytes, 0…8160, for the purpose that `label` names.
    public static func expand(_ key: SecretBytes, _ label: [UInt8], count: Int) -> SecretBytes {
        precondition((0...8160).contains(count), "HKDF gives 255 times 32 bytes at the most")
        return SecretBytes(count: count) { output in
            var block = InlineArray<32, UInt8>(repeating: 0)
            for (index, start) in stride(from: 0, to: count, by: 32).enumerated() {
                block = key.withBytes { key in
                    hmac(key: key) { mac in
                        if index > 0 { mac.update(block.span) }
                        mac.update(label.span)
                        mac.update(UInt8(index + 1))
                    }
                }
                for place in start..<min(start + 32, count) { output[place] = block[place - start] }
            }
            zero(&block)
        }
    }

    static func expand(_ key: SecretBytes, _ text: StaticString, count: Int) -> SecretBytes {
        expand(key, label(text), count: count)
    }
}

/// An HMAC-SHA256 (RFC 2104) in progress. The message is passed to `update`, in any number of pieces.
struct HMAC {
    fileprivate var state = crypto_auth_hmacsha256_state()

    mutating func update(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { pointer in
            _ = unsafe crypto_auth_hmacsha256_update(&state, pointer.baseAddress, UInt64(pointer.count))
        }
    }

    mutating func update(_ byte: UInt8) {
        let one: InlineArray<1, UInt8> = [byte]
        update(one.span)
    }
}

/// Returns the HMAC-SHA256 of the bytes that `feed` passes to `update`.
func hmac(key: Span<UInt8>, _ feed: (inout HMAC) -> Void) -> InlineArray<32, UInt8> {
    // Replaces an empty key, whose pointer may be null, by a key of one zero byte. HMAC pads a key with zeros, so the
    // result is the same.
    let none: InlineArray<1, UInt8> = [0]
    guard key.count > 0 else { return hmac(key: none.span, feed) }
    var mac = HMAC()
    unsafe key.withUnsafeBufferPointer { pointer in
        _ = unsafe crypto_auth_hmacsha256_init(&mac.state, pointer.baseAddress!, pointer.count)
    }
    feed(&mac)
    var output = InlineArray<32, UInt8>(repeating: 0)
    var span = output.mutableSpan
    unsafe span.withUnsafeMutableBufferPointer { pointer in
        _ = unsafe crypto_auth_hmacsha256_final(&mac.state, pointer.baseAddress!)
    }
    unsafe sodium_memzero(&mac.state, MemoryLayout<crypto_auth_hmacsha256_state>.size)
    return output
}

/// Returns the first 16 bytes of an HMAC-SHA256, as a big-endian number. The protocol's tags and proofs are such
/// numbers.
func shortMAC(key: SecretBytes, _ feed: (inout HMAC) -> Void) -> UInt128 {
    key.withBytes { hmac(key: $0, feed).span.number(at: 0) }
}

/// Returns the first 16 bytes of the HMAC-SHA256 of `bytes`, as a big-endian number.
package func shortMAC(key: SecretBytes, of bytes: Span<UInt8>) -> UInt128 { shortMAC(key: key) { $0.update(bytes) } }

/// Returns the SHA-256 of `bytes`.
package func sha256(_ bytes: Span<UInt8>) -> InlineArray<32, UInt8> {
    var output = InlineArray<32, UInt8>(repeating: 0)
    var span = output.mutableSpan
    unsafe bytes.withUnsafeBufferPointer { input in
        unsafe span.withUnsafeMutableBufferPointer { pointer in
            _ = unsafe crypto_hash_sha256(pointer.baseAddress!, input.baseAddress, UInt64(input.count))
        }
    }
    return output
}

/// Overwrites `bytes` with zeros by `sodium_memzero`, which the optimizer does not remove.
func zero(_ bytes: inout InlineArray<32, UInt8>) {
    var span = bytes.mutableSpan
    unsafe span.withUnsafeMutableBufferPointer { unsafe sodium_memzero($0.baseAddress!, $0.count) }
}
