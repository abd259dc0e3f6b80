private import CSodium

/// Chance that nobody can foretell, from one seed: so that what draws keys can be a value, and a test can repeat it.
///
/// ChaCha20 of libsodium (`randombytes_buf_deterministic`). Each seed gives the next one before anything else: who reads the
/// memory later does not learn what was drawn before.
public struct SecretGenerator: RandomNumberGenerator, Sendable {
    private var seed: SecretBytes
    private var numbers = InlineArray<12, UInt64>(repeating: 0)
    private var used = 12

    /// `generator` must be one that nobody can foretell, too.
    public init(using generator: inout some RandomNumberGenerator) {
        seed = SecretBytes(count: Self.seedByteCount, using: &generator)
    }

    public mutating func next() -> UInt64 {
        if used == numbers.count { refill() }
        defer {
            numbers[used] = 0
            used += 1
        }
        return numbers[used]
    }

    private mutating func refill() {
        let bytes = SecretBytes(count: Self.seedByteCount + 8 * numbers.count) { bytes in
            seed.withBytes { seed in
                unsafe bytes.withUnsafeMutableBufferPointer { output in
                    unsafe seed.withUnsafeBufferPointer { seed in
                        unsafe randombytes_buf_deterministic(output.baseAddress!, output.count, seed.baseAddress!)
                    }
                }
            }
        }
        seed = bytes.part(0..<Self.seedByteCount)
        bytes.withBytes { bytes in
            for index in numbers.indices { numbers[index] = bytes.number(at: Self.seedByteCount + 8 * index) }
        }
        used = 0
    }

    /// `randombytes_SEEDBYTES`.
    private static let seedByteCount = 32
}
