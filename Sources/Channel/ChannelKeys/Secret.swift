/// The secret in a talk or listen link: 16 random bytes.
public struct Secret: Sendable, Equatable {
    /// The permission that the secret gives.
    public enum Kind: String, Sendable, CaseIterable {
        /// Talking and listening.
        case talk
        /// Listening.
        case listen
    }

    public let kind: Kind
    let bytes: SecretBytes

    public static let byteCount = 16
    /// The number of base32 digits (five bits each) in which the secret and its check bits are written.
    static let letterCount = 28
    static let wordCount = 14

    init(_ kind: Kind, _ bytes: SecretBytes) {
        precondition(bytes.count == Self.byteCount)
        self.kind = kind
        self.bytes = bytes
    }

    /// Makes a random secret. `generator` must be unpredictable: the system's generator, outside tests.
    public init(_ kind: Kind, using generator: inout some RandomNumberGenerator) {
        self.init(kind, SecretBytes(count: Self.byteCount, using: &generator))
    }

    /// The secret and its check bits as 28 letters and digits in groups of four. Put this text into a link only.
    public var letters: String {
        let bits = checkedBits
        return (0..<Self.letterCount).map { place in
            let digit = String(UnicodeScalar(Base32.alphabet[bits.number(place, bitCount: 5)]))
            return place > 0 && place % 4 == 0 ? "-" + digit : digit
        }.joined()
    }

    /// The secret and its check bits as 14 words. Put this text into a link only.
    public var words: String {
        let bits = checkedBits
        return (0..<Self.wordCount).map { SecretWords.all[bits.number($0, bitCount: 10)] }.joined(separator: "-")
    }

    /// Parses a secret, written in letters and digits or in words, and verifies its check bits.
    init(_ kind: Kind, parsing text: Span<UInt8>) throws(ChannelLinkError) {
        var bits = CheckedBits()
        if let numbers = SecretWords.numbers(in: text) {
            guard numbers.count == Self.wordCount else { throw .secretLength }
            for (place, number) in numbers.enumerated() { bits.set(place, to: number, bitCount: 10) }
        } else if let misspelling = Misspelling(in: text) {
            throw .secretWord(misspelling)
        } else {
            var place = 0
            for index in text.indices where text[index] != UInt8(ascii: "-") {
                guard let value = Base32.value(of: text[index]) else { throw .secretCharacter }
                guard place < Self.letterCount else { throw .secretLength }
                bits.set(place, to: Int(value), bitCount: 5)
                place += 1
            }
            guard place == Self.letterCount else { throw .secretLength }
        }
        let secret = bits.secret
        self.init(
            kind,
            SecretBytes(count: Self.byteCount) { bytes in
                for index in 0..<Self.byteCount {
                    bytes[index] = UInt8(truncatingIfNeeded: secret >> (120 - 8 * index))
                }
            })
        guard bits.check == check else { throw .secretCheck }
    }

    /// 12 check bits, which detect typing errors.
    private var check: UInt16 {
        bytes.withBytes { bytes in
            var text = Array(kind.rawValue.utf8)
            for index in bytes.indices { text.append(bytes[index]) }
            return sha256(text.span).span.number(at: 0, as: UInt16.self) >> 4
        }
    }

    private var checkedBits: CheckedBits {
        CheckedBits(secret: bytes.withBytes { $0.number(at: 0) }, check: check)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(\(kind.rawValue) secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// 140 bits: a secret and its check bits.
private struct CheckedBits {
    var secret: UInt128 = 0
    var check: UInt16 = 0

    /// Returns the number that consists of `bitCount` bits, beginning at bit `place * bitCount`, most significant bit
    /// first.
    func number(_ place: Int, bitCount: Int) -> Int {
        var number = 0
        for position in place * bitCount..<(place + 1) * bitCount {
            let isSet = position < 128 ? secret >> (127 - position) & 1 == 1 : check >> (139 - position) & 1 == 1
            number = number << 1 | (isSet ? 1 : 0)
        }
        return number
    }

    mutating func set(_ place: Int, to number: Int, bitCount: Int) {
        for bit in 0..<bitCount where number >> (bitCount - 1 - bit) & 1 == 1 {
            let position = place * bitCount + bit
            if position < 128 { secret |= 1 << (127 - position) } else { check |= 1 << (139 - position) }
        }
    }
}
