private import CSodium

/// ChaCha20-Poly1305 (RFC 8439) with a counter as nonce. The C functions are
/// `crypto_aead_chacha20poly1305_ietf_encrypt` and `_decrypt_detached`.
package enum AEAD {
    package static let tagByteCount = 16

    /// Encrypts `body` and appends it with its 16-byte tag. The caller must never use the same `counter` twice under
    /// one key.
    package static func seal(
        _ body: Span<UInt8>, counter: UInt64, data: Span<UInt8>, key: Span<UInt8>,
        into datagram: inout OutputSpan<UInt8>
    ) {
        precondition(datagram.freeCapacity >= body.count + tagByteCount, "no room for what is sealed")
        let nonce = nonce(counter)
        unsafe datagram.withUnsafeMutableBufferPointer { output, count in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe nonce.span.withUnsafeBufferPointer { nonce in
                    unsafe body.withUnsafeBufferPointer { body in
                        unsafe data.withUnsafeBufferPointer { data in
                            _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
                                output.baseAddress! + count, nil, body.baseAddress, UInt64(body.count),
                                data.baseAddress, UInt64(data.count), nil, nonce.baseAddress!, key.baseAddress!)
                        }
                    }
                }
            }
            count += body.count + tagByteCount
        }
    }

    /// Decrypts `sealed`, which consists of a body and its 16-byte tag, in place. The decrypted body is at the
    /// beginning of `sealed`. If `sealed` is not authentic, the body is zeroed, and the result is false.
    package static func open(
        _ sealed: inout MutableSpan<UInt8>, counter: UInt64, data: Span<UInt8>, key: Span<UInt8>
    ) -> Bool {
        guard sealed.count >= tagByteCount else { return false }
        let nonce = nonce(counter)
        return unsafe sealed.withUnsafeMutableBufferPointer { sealed in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe nonce.span.withUnsafeBufferPointer { nonce in
                    unsafe data.withUnsafeBufferPointer { data in
                        let start = sealed.baseAddress!
                        return unsafe crypto_aead_chacha20poly1305_ietf_decrypt_detached(
                            start, nil, start, UInt64(sealed.count - tagByteCount),
                            start + (sealed.count - tagByteCount), data.baseAddress, UInt64(data.count),
                            nonce.baseAddress!, key.baseAddress!) == 0
                    }
                }
            }
        }
    }

    private static func nonce(_ counter: UInt64) -> InlineArray<12, UInt8> {
        var nonce = InlineArray<12, UInt8>(repeating: 0)
        for index in 0..<8 { nonce[4 + index] = UInt8(truncatingIfNeeded: counter >> (56 - 8 * index)) }
        return nonce
    }
}
