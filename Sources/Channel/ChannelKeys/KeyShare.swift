private import CSodium

/// An X25519 key pair (RFC 7748): generated for one session and never used again, or a static pair.
public struct KeyShare: Sendable {
    package let secret: SecretBytes
    /// The public key, which is sent to the other side.
    public let point: SharePoint

    /// Makes a random key pair. `generator` must be unpredictable.
    public init(using generator: inout some RandomNumberGenerator) {
        self.init(SecretBytes(count: 32, using: &generator))
    }

    /// Derives the public key from the secret key `secret`. The C function is `crypto_scalarmult_base`.
    package init(_ secret: SecretBytes) {
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
    package func agreement(with other: SharePoint) -> SecretBytes? {
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
    package let value: Bytes32

    package static let byteCount = Bytes32.byteCount

    package init(_ value: Bytes32) { self.value = value }

    package init(parsing bytes: Span<UInt8>, at offset: Int) { self.init(Bytes32(bytes, at: offset)) }

    package func write(into bytes: inout OutputSpan<UInt8>) { value.write(into: &bytes) }

    package var bytes: [UInt8] { [UInt8](capacity: Self.byteCount) { write(into: &$0) } }
}
