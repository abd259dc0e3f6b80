/// Encodes bytes as digits of five bits that people can type: RFC 4648's base32 in small letters, without padding.
package enum Base32 {
    package static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// Returns the five bits of a digit, or nil for any other character. Accepts capitals, and 0, 1 and 8 for o, l and
    /// b.
    package static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a")
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "2")...UInt8(ascii: "7"): character - UInt8(ascii: "2") + 26
        case UInt8(ascii: "0"): 14
        case UInt8(ascii: "1"): 11
        case UInt8(ascii: "8"): 1
        default: nil
        }
    }

    /// Encodes all bits of `bytes`, most significant first; the last digit is filled up with zero bits.
    package static func text(of bytes: Span<UInt8>) -> String {
        var digits: [UInt8] = []
        var held: UInt16 = 0
        var bitCount = 0
        for index in bytes.indices {
            held = held << 8 | UInt16(bytes[index])
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                digits.append(alphabet[Int(held >> bitCount & 31)])
            }
        }
        if bitCount > 0 { digits.append(alphabet[Int(held << (5 - bitCount) & 31)]) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Decodes `count` bytes. Returns nil if the number of digits is wrong, a character is not a digit, or an unused
    /// bit is set.
    package static func bytes(_ digits: Span<UInt8>, count: Int) -> SecretBytes? {
        guard digits.count == (count * 8 + 4) / 5 else { return nil }
        var isRight = true
        let bytes = SecretBytes(count: count) { bytes in
            var held: UInt16 = 0
            var (bitCount, place) = (0, 0)
            for index in digits.indices {
                guard let value = value(of: digits[index]) else {
                    isRight = false
                    return
                }
                held = held << 5 | UInt16(value)
                bitCount += 5
                guard bitCount >= 8 else { continue }
                bitCount -= 8
                bytes[place] = UInt8(truncatingIfNeeded: held >> bitCount)
                place += 1
            }
            if held & (1 << bitCount - 1) != 0 { isRight = false }
        }
        return isRight ? bytes : nil
    }
}
