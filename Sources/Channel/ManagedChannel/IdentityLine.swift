internal import TenfourAudioCore
public import TenfourChannelKeys

/// The text in which a person gives an identity to another: `id-`, the public key with check bits in letters or words,
/// and optionally a space and a name.
public struct IdentityLine: Hashable, Sendable {
    public var key: IdentityKey
    /// The name that the person has written, safe to display; empty if there is none.
    public private(set) var name: String

    /// The length of a longer line is refused.
    public static let maximumByteCount = 512
    static let letterCount = 54
    static let wordCount = 27
    private static let checkBitCount = 14

    /// `name` must be a valid name of the roster (`MemberName`), or empty.
    public init(_ key: IdentityKey, name: MemberName? = nil) {
        self.key = key
        self.name = name?.text ?? ""
    }

    /// The line in letters: `id-` and 54 letters and digits in groups of four.
    public var letters: String {
        let bits = checkedBits
        let letters = (0..<Self.letterCount).map { place in
            let digit = String(UnicodeScalar(Base32.alphabet[bits.span.bits(place, count: 5)]))
            return place > 0 && place % 4 == 0 ? "-" + digit : digit
        }
        return "id-" + letters.joined() + suffix
    }

    /// The line in 27 words, which can be said aloud.
    public var words: String {
        let bits = checkedBits
        let words = (0..<Self.wordCount).map { SecretWords.all[bits.span.bits($0, count: 10)] }
        return "id-" + words.joined(separator: "-") + suffix
    }

    /// Parses a line. Ignores white space at its ends.
    public init(_ text: String) throws(IdentityLineError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        let blanks: Set<UInt8> = [32, 9, 10, 13]
        let line = bytes.drop { blanks.contains($0) }
        guard line.count > 3, line.prefix(3).map({ $0 | 0x20 }) == Array("id-".utf8) else { throw .prefix }
        let code = Array(line.dropFirst(3).prefix { !blanks.contains($0) })
        let rest = line.dropFirst(3 + code.count).drop { blanks.contains($0) }
        let end = rest.lastIndex { !blanks.contains($0) }.map { $0 + 1 } ?? rest.startIndex
        let named = rest[..<end]

        let checked = try Self.bytes(code)
        let publicKey = Bytes32(checked.span)
        guard checked == Self.checked(publicKey) else { throw .check }
        guard let key = IdentityKey(publicKey) else { throw .weakKey }
        self.key = key
        guard !named.isEmpty else {
            name = ""
            return
        }
        guard let name = MemberName(Array(named).span) else { throw .name }
        self.name = name.text
    }

    /// The name as one of the roster; nil if the line has none.
    public var memberName: MemberName? { MemberName(name) }

    private var suffix: String { name.isEmpty ? "" : " " + name }
    private var checkedBits: [UInt8] { Self.checked(key.bytes) }

    /// The public key and 14 check bits: 34 bytes, of which the last two bits are zero.
    private static func checked(_ key: Bytes32) -> [UInt8] {
        let bytes = key.bytes.array
        let check = sha256((label("tenfour 1 id") + bytes).span)
        return bytes + [check[0], check[1] & 0xFC]
    }

    /// Returns the 270 bits that `code` holds in letters or words, as 34 bytes.
    private static func bytes(_ code: [UInt8]) throws(IdentityLineError) -> [UInt8] {
        if let numbers = SecretWords.numbers(in: code.span) {
            guard numbers.count == wordCount else { throw .length }
            return packed(numbers, bitCount: 10)
        }
        if let misspelling = Misspelling(in: code.span) { throw .word(misspelling) }
        var digits: [Int] = []
        for byte in code where byte != UInt8(ascii: "-") {
            guard let value = Base32.value(of: byte) else { throw .character }
            digits.append(Int(value))
        }
        guard digits.count == letterCount else { throw .length }
        return packed(digits, bitCount: 5)
    }

    private static func packed(_ numbers: [Int], bitCount: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (letterCount * 5 + 7) / 8)
        for (place, number) in numbers.enumerated() {
            for bit in 0..<bitCount where number >> (bitCount - 1 - bit) & 1 == 1 {
                let position = place * bitCount + bit
                bytes[position / 8] |= 0x80 >> (position % 8)
            }
        }
        return bytes
    }
}

/// The reason why a text is not an identity.
public enum IdentityLineError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLong
    case prefix
    case character
    case length
    case word(Misspelling)
    case check
    case weakKey
    case name

    public var description: String {
        switch self {
        case .tooLong:
            "an identity has at most \(IdentityLine.maximumByteCount) bytes; copy the line of `tenfour id` again"
        case .prefix: "an identity begins with 'id-'; copy the line of `tenfour id` again"
        case .character:
            "the identity contains a character that is neither a letter nor a digit of its alphabet; copy it again"
        case .length: "the identity does not have 54 letters and digits, or 27 words; copy all of it"
        case .word(let misspelling): sentence(misspelling)
        case .check: "a letter or a word of the identity is wrong; copy it again"
        case .weakKey: "the identity is not one that `tenfour id` makes, and could be forged; ask for another"
        case .name:
            "the name after the identity has a control character, or more than \(MemberName.maximumByteCount) bytes; leave it out"
        }
    }

    private func sentence(_ misspelling: Misspelling) -> String {
        let word = String(fromPeer: misspelling.word, limit: 64)
        let nearest = misspelling.nearest.joined(separator: " or ")
        let remedy = nearest.isEmpty ? "copy it again" : "did you mean \(nearest)?"
        return "word \(misspelling.place) of the identity, '\(word)', is not in the list of words; \(remedy)"
    }
}
