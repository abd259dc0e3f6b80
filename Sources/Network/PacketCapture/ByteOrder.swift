/// The byte order of the machine that wrote a capture. Only this type converts the bytes of a capture to numbers.
enum ByteOrder: Sendable {
    case bigEndian, littleEndian

    /// Reads two bytes at `offset`. Traps if `bytes` does not contain them, so the caller checks this first.
    func uint16(_ bytes: Span<UInt8>, at offset: Int) -> UInt16 {
        let (first, second) = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
        return self == .bigEndian ? first << 8 | second : second << 8 | first
    }

    func uint32(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
        let (first, second) = (UInt32(uint16(bytes, at: offset)), UInt32(uint16(bytes, at: offset + 2)))
        return self == .bigEndian ? first << 16 | second : second << 16 | first
    }

    func uint64(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        let (first, second) = (UInt64(uint32(bytes, at: offset)), UInt64(uint32(bytes, at: offset + 4)))
        return self == .bigEndian ? first << 32 | second : second << 32 | first
    }
}
