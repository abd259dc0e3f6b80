/// 32 bytes that are not secret: a public key or a hash.
public struct Bytes32: Hashable, Sendable {
    package static let byteCount = 32

    package let firstHalf: UInt128
    package let secondHalf: UInt128

    /// Reads 32 bytes. Traps if `bytes` is too short: the caller must have checked the length.
    package init(_ bytes: Span<UInt8>, at offset: Int = 0) {
        firstHalf = bytes.number(at: offset)
        secondHalf = bytes.number(at: offset + 16)
    }

    /// The SHA-256 of `bytes`.
    package init(hashing bytes: Span<UInt8>) { self.init(sha256(bytes).span) }

    package func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: firstHalf)
        bytes.append(number: secondHalf)
    }

    /// The 32 bytes.
    package var bytes: InlineArray<32, UInt8> {
        var bytes = InlineArray<32, UInt8>(repeating: 0)
        for index in 0..<16 {
            bytes[index] = UInt8(truncatingIfNeeded: firstHalf >> (120 - 8 * index))
            bytes[16 + index] = UInt8(truncatingIfNeeded: secondHalf >> (120 - 8 * index))
        }
        return bytes
    }
}
