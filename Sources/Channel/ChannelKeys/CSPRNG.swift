private import CSodium

/// A cryptographically secure random number generator, seeded with 32 random bytes.
///
/// It is ChaCha20 (`crypto_stream_chacha20_ietf`). Each refill replaces the key by the first 32 bytes of the output,
/// and a number is zeroed after it was returned. So an attacker who reads the present state cannot compute earlier
/// numbers.
public struct CSPRNG: RandomNumberGenerator, Sendable {
    private var key: SecretBytes
    private var numbers: SecretBytes
    private var place = 0

    private static let keyByteCount = 32
    private static let byteCount = 512

    /// Seeds the generator with random bytes from the system. The C function is `randombytes_buf`.
    public init() {
        key = SecretBytes(count: Self.keyByteCount) { output in
            unsafe output.withUnsafeMutableBytes { unsafe randombytes_buf($0.baseAddress!, $0.count) }
        }
        numbers = SecretBytes(count: 0) { _ in }
    }

    /// Seeds the generator from `generator`, which must be unpredictable: the system's generator, outside tests.
    public init(using generator: inout some RandomNumberGenerator) {
        key = SecretBytes(count: Self.keyByteCount, using: &generator)
        numbers = SecretBytes(count: 0) { _ in }
    }

    public mutating func next() -> UInt64 {
        if place + 8 > numbers.count { refill() }
        // Copies the buffer if a copy of this generator shares it, because that copy must return the same numbers.
        if !isKnownUniquelyReferenced(&numbers) { numbers = numbers.part(0..<numbers.count) }
        defer { place += 8 }
        return numbers.take(at: place)
    }

    /// The buffered random bytes; the bytes already returned by `next` are zero. For tests.
    package var held: SecretBytes { numbers }

    private mutating func refill() {
        let nonce = InlineArray<12, UInt8>(repeating: 0)
        numbers = SecretBytes(count: Self.byteCount) { output in
            unsafe output.withUnsafeMutableBufferPointer { output in
                key.withBytes { key in
                    unsafe key.withUnsafeBufferPointer { key in
                        unsafe nonce.span.withUnsafeBufferPointer { nonce in
                            _ = unsafe crypto_stream_chacha20_ietf(
                                output.baseAddress!, UInt64(output.count), nonce.baseAddress!, key.baseAddress!)
                        }
                    }
                }
            }
        }
        key = numbers.part(0..<Self.keyByteCount)
        for place in stride(from: 0, to: Self.keyByteCount, by: 8) { _ = numbers.take(at: place) }
        place = Self.keyByteCount
    }
}
