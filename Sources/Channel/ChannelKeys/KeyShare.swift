private import CSodium

/// The X25519 key pair (RFC 7748) of the member or of the relay, generated for one session and never used again.
public struct KeyShare: Sendable {
    private let secret: SecretBytes
    /// The public key, which is sent to the other side.
    public let point: SharePoint

    /// Makes a random key pair. `generator` must be unpredictable.
    public init(using generator: inout some RandomNumberGenerator) {
        self.init(SecretBytes(count: 32, using: &generator))
    }

    /// Derives the public key from the secret key `secret`. The C function is `crypto_scalarmult_base`.
    init(_ secret: SecretBytes) {
        self.secret = secret
        var bytes = InlineArray<32, UInt8>(repeating: 0)
        var span = bytes.mutableSpan
        unsafe span.withUnsafeMutableBufferPointer { output in
            secret.withBytes { secret in
                unsafe secret.withUnsafeBufferPointer { secret in
                    _ = unsafe crypto_scalarmult_base(output.baseAddress!, secret.baseAddress!)
                }
            }
        }
        point = SharePoint(parsing: bytes.span, at: 0)
    }

    /// Returns the shared secret of this key pair and the public key `other`. Returns nil if `other` is a point of low
    /// order, with which anybody could compute the shared secret. The C function is `crypto_scalarmult`.
    func agreement(with other: SharePoint) -> SecretBytes? {
        var isGood = false
        var point = InlineArray<32, UInt8>(repeating: 0)
        fill(&point) { other.write(into: &$0) }
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

/// An X25519 public key: the 32 bytes that are sent.
public struct SharePoint: Hashable, Sendable {
    private let firstHalf: UInt128
    private let secondHalf: UInt128

    init(parsing bytes: Span<UInt8>, at offset: Int) {
        firstHalf = bytes.number(at: offset)
        secondHalf = bytes.number(at: offset + 16)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: firstHalf)
        bytes.append(number: secondHalf)
    }
}
