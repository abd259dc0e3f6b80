/// A key of a telephone, pressed by a talker: the payload of a telephone event with one of the numbers 0 to 15 (RFC 4733
/// section 2.3 and table 3). Tones of lines and modems have greater numbers.
public struct TelephoneEvent: Hashable, Sendable {
    /// The key: 0…9, *, #, or A…D.
    public var key: Character

    /// The length of the payload.
    static let byteCount = 4
    private static let keys = Array("0123456789*#ABCD")

    /// Parses a payload; nil if it is not that of a key. Byte 0 is the number. Byte 1 has the end bit, a reserved zero
    /// bit and the volume. The duration follows.
    public init?(parsing payload: Span<UInt8>) {
        guard payload.count == Self.byteCount, Int(payload[0]) < Self.keys.count, payload[1] & 0x40 == 0 else {
            return nil
        }
        key = Self.keys[Int(payload[0])]
    }
}
