/// A text in UTF-16 that begins with a byte order mark, as programs of Windows write it.
enum UTF16Text {
    /// Returns the text of `bytes` in UTF-8; nil if they do not begin with a byte order mark of UTF-16. The last byte of
    /// an odd number is left out.
    static func utf8(of bytes: Span<UInt8>) -> [UInt8]? {
        guard bytes.count >= 2 else { return nil }
        let isLittleEndian = bytes[0] == 0xFF && bytes[1] == 0xFE
        guard isLittleEndian || bytes[0] == 0xFE && bytes[1] == 0xFF else { return nil }
        let (low, high) = isLittleEndian ? (0, 1) : (1, 0)
        let units = (1..<bytes.count / 2).map { UInt16(bytes[2 * $0 + low]) | UInt16(bytes[2 * $0 + high]) << 8 }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
