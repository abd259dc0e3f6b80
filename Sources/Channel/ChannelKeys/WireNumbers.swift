// Integers of any width in network byte order.

extension Span<UInt8> {
    /// Reads the integer at `offset`. Traps if the span is too short: the caller must have checked the length.
    package func number<Number: FixedWidthInteger & UnsignedInteger>(at offset: Int, as _: Number.Type = Number.self)
        -> Number
    {
        var number: Number = 0
        for index in offset..<(offset + Number.bitWidth / 8) { number = number << 8 | Number(self[index]) }
        return number
    }

    package func isZero(in range: Range<Int>) -> Bool {
        for index in range where self[index] != 0 { return false }
        return true
    }
}

extension OutputSpan<UInt8> {
    @_lifetime(self: copy self)
    package mutating func append(number: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    @_lifetime(self: copy self)
    package mutating func append(_ bytes: Span<UInt8>) {
        for index in bytes.indices { append(bytes[index]) }
    }

    @_lifetime(self: copy self)
    package mutating func append(zeros count: Int) { append(repeating: 0, count: count) }
}

/// Returns the ASCII bytes of a key derivation label, followed by the numbers that make the label unique.
package func label(_ text: StaticString, _ numbers: (inout OutputSpan<UInt8>) -> Void = { _ in }) -> [UInt8] {
    [UInt8](capacity: text.utf8CodeUnitCount + 64) { bytes in
        text.withUTF8Buffer { characters in unsafe bytes.append(characters.span) }
        numbers(&bytes)
    }
}
