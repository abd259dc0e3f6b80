private import CSodium

/// Computes a number for each client address. A client that sends its number back proves that it receives at this
/// address. Keeps no state for an address.
///
/// A number is the first half of SipHash-2-4-128 of a nonce and a transport address, under a random key that is
/// generated once. `Cookies` does the same for a relay, with keys that change.
public struct AddressChallenge: Sendable {
    private let key: SecretBytes

    /// Generates the random key. `generator` must be a CSPRNG outside tests.
    public init(using generator: inout some RandomNumberGenerator) {
        key = SecretBytes(count: sipHashKeyByteCount, using: &generator)
    }

    /// Returns the number that the client at `address` must send back. `nonce` is a random number of the client.
    public func number(for nonce: UInt64, at address: PeerAddress) -> UInt64 {
        var bytes = InlineArray<27, UInt8>(repeating: 0)
        fill(&bytes) {
            $0.append(number: nonce)
            address.write(into: &$0)
        }
        return UInt64(truncatingIfNeeded: sipHash(bytes.span, key: key) >> 64)
    }
}

let sipHashKeyByteCount = 16

/// Returns SipHash-2-4 with 128 bits of `bytes`. `key` has 16 bytes. The C function is `crypto_shorthash_siphashx24`.
func sipHash(_ bytes: Span<UInt8>, key: SecretBytes) -> UInt128 {
    precondition(key.count == sipHashKeyByteCount, "a key of SipHash has 16 bytes")
    var tag = InlineArray<16, UInt8>(repeating: 0)
    var span = tag.mutableSpan
    unsafe span.withUnsafeMutableBufferPointer { tag in
        key.withBytes { key in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe bytes.withUnsafeBufferPointer { bytes in
                    _ = unsafe crypto_shorthash_siphashx24(
                        tag.baseAddress!, bytes.baseAddress!, UInt64(bytes.count), key.baseAddress!)
                }
            }
        }
    }
    return tag.span.number(at: 0)
}
