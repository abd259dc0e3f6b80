internal import TenfourChannelKeys

/// An Ed25519 signature (RFC 8032): 64 bytes.
public struct Signature: Hashable, Sendable {
    let firstHalf: Bytes32
    let secondHalf: Bytes32

    static let byteCount = 64

    /// Reads 64 bytes. Traps if `bytes` is too short: the caller must have checked the length.
    init(parsing bytes: Span<UInt8>, at offset: Int) {
        firstHalf = Bytes32(bytes, at: offset)
        secondHalf = Bytes32(bytes, at: offset + 32)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        firstHalf.write(into: &bytes)
        secondHalf.write(into: &bytes)
    }

    var bytes: [UInt8] { [UInt8](capacity: Self.byteCount) { write(into: &$0) } }
}

/// The bytes that a signature covers: a label that says what is signed, then the fields. No two kinds of messages have
/// the same bytes, because no label is the beginning of another.
struct SignedMessage {
    private(set) var bytes: [UInt8]

    init(_ text: StaticString, channelID: UInt128, _ fields: (inout OutputSpan<UInt8>) -> Void) {
        bytes = label(text)
        bytes += [UInt8](capacity: Self.maximumByteCount) {
            $0.append(number: channelID)
            fields(&$0)
        }
    }

    private static let maximumByteCount = 256
}
