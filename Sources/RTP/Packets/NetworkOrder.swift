// Integers in network byte order, most significant byte first. Only this file shifts bytes for RTP and RTCP.

extension Span<UInt8> {
    /// Reads two bytes at `offset`. The caller has checked that the bytes are there; a wrong index traps.
    package func uint16(at offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }

    package func uint32(at offset: Int) -> UInt32 {
        UInt32(uint16(at: offset)) << 16 | UInt32(uint16(at: offset + 2))
    }
}

extension OutputSpan<UInt8> {
    @_lifetime(self: copy self)
    package mutating func append(bigEndian number: UInt16) {
        append(UInt8(number >> 8))
        append(UInt8(number & 0xFF))
    }

    @_lifetime(self: copy self)
    package mutating func append(bigEndian number: UInt32) {
        append(bigEndian: UInt16(number >> 16))
        append(bigEndian: UInt16(number & 0xFFFF))
    }
}
