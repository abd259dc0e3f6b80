private import CSodium
private import Glibc

/// A secret that people choose, and a random tag, so that two channels with the same name and passphrase have different
/// keys.
///
/// Anybody who records the channel, and any relay, can try passphrases offline. So weak passphrases are refused, and
/// each attempt takes 64 MiB of memory and about 0.1 s.
public struct Passphrase: Sendable, Equatable {
    /// 40 random bits, which are part of the link.
    public let tag: UInt64
    /// The passphrase in UTF-8, with one space between words.
    let text: SecretBytes

    public static let maximumByteCount = 256
    public static let minimumWordCount = 5
    public static let minimumBitCount = 60.0

    /// Checks a passphrase; throws if it is easy to guess. Each new channel needs a new random `tag`.
    public init(_ text: String, tag: UInt64) throws(PassphraseError) {
        let bytes = Array(text.utf8)
        try self.init(bytes.span, tag: tag)
    }

    init(_ bytes: Span<UInt8>, tag: UInt64) throws(PassphraseError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        var words: [[UInt8]] = [[]]
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "-"), UInt8(ascii: "_"): words.append([])
            case 0..<32, 127: throw .controlCharacter
            default: words[words.count - 1].append(bytes[index])
            }
        }
        words.removeAll(where: \.isEmpty)
        let joined = Array(words.joined(separator: [UInt8(ascii: " ")]))
        guard let text = String(validating: joined, as: UTF8.self) else { throw .notUTF8 }
        let different = Set(words.filter { $0.count >= 3 })
        let bitCount = Self.estimatedBitCount(of: text)
        guard different.count >= Self.minimumWordCount || bitCount >= Self.minimumBitCount else {
            throw .weak(wordCount: different.count, bitCount: Int(bitCount))
        }
        self.tag = tag & 0xFF_FFFF_FFFF
        self.text = SecretBytes(copying: joined.span)
    }

    /// Derives the secret by Argon2id (`crypto_pwhash_argon2id`) with 64 MiB of memory and 3 passes, in about 0.1 s.
    /// Throws if there is not enough memory.
    public func talkSecret(forChannel name: String) throws(PassphraseError) -> Secret {
        let salt = saltBytes(forChannel: name)
        var code: CInt = 0
        let bytes = SecretBytes(count: Secret.byteCount) { output in
            unsafe output.withUnsafeMutableBufferPointer { output in
                text.withBytes { text in
                    unsafe text.withUnsafeBufferPointer { text in
                        unsafe text.withMemoryRebound(to: CChar.self) { text in
                            unsafe salt.span.withUnsafeBufferPointer { salt in
                                code = unsafe crypto_pwhash_argon2id(
                                    output.baseAddress!, UInt64(output.count), text.baseAddress!, UInt64(text.count),
                                    salt.baseAddress!, 3, 64 << 20, crypto_pwhash_argon2id_ALG_ARGON2ID13)
                            }
                        }
                    }
                }
            }
        }
        guard code == 0 else { throw .outOfMemory }
        return Secret(.talk, bytes)
    }

    private func saltBytes(forChannel name: String) -> InlineArray<32, UInt8> {
        var salted = label("tenfour 1 passphrase")
        for shift in [32, 24, 16, 8, 0] { salted.append(UInt8(truncatingIfNeeded: tag >> shift)) }
        salted.append(contentsOf: name.utf8)
        return sha256(salted.span)
    }

    /// Estimates the bits of entropy against an attacker who knows how people choose passphrases. The rules are in
    /// Protocol/05-channel-keys.md.
    private static func estimatedBitCount(of text: String) -> Double {
        let words = text.unicodeScalars.split(separator: " ").map { $0.map(\.value) }
        let classes = CharacterClass.allCases.filter { kind in
            words.contains { $0.contains { CharacterClass($0) == kind } }
        }
        let perCharacter = log2(Double(classes.reduce(0) { $0 + $1.size }))
        var seen: Set<ArraySlice<UInt32>> = []
        return words.indices.reduce(0) { bits, place in
            let isSaidAgain = words[..<place].contains(words[place])
            return bits + (isSaidAgain ? 1 : bitCount(of: words[place], perCharacter: perCharacter, seen: &seen))
        }
    }

    private static func bitCount(
        of word: [UInt32], perCharacter: Double, seen: inout Set<ArraySlice<UInt32>>
    ) -> Double {
        var bits = 0.0
        for index in word.indices {
            let isRun = index > 0 && abs(Int64(word[index]) - Int64(word[index - 1])) <= 1
            let isRepeat = index >= 2 && !seen.insert(word[index - 2...index]).inserted
            bits += isRun || isRepeat ? 1 : perCharacter
        }
        let isOfLetters = word.allSatisfy { [.small, .capital, .beyond].contains(CharacterClass($0)) }
        return isOfLetters ? min(bits, Double(12 * ((word.count + 7) / 8))) : bits
    }
}

/// A class of characters, such as digits. An attacker has to try all characters of each class that occurs in the
/// passphrase.
private enum CharacterClass: CaseIterable {
    case small, capital, digit, otherASCII, beyond

    init(_ scalar: UInt32) {
        self =
            switch scalar {
            case 0x61...0x7A: .small
            case 0x41...0x5A: .capital
            case 0x30...0x39: .digit
            case 0..<0x80: .otherASCII
            default: .beyond
            }
    }

    var size: Int {
        switch self {
        case .small, .capital: 26
        case .digit: 10
        case .otherASCII: 33
        case .beyond: 100
        }
    }
}

/// The reason why a passphrase is refused.
public enum PassphraseError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLong
    case controlCharacter
    case notUTF8
    /// The passphrase is easy to guess: it has only `wordCount` different words of three bytes or more, and about
    /// `bitCount` bits of entropy.
    case weak(wordCount: Int, bitCount: Int)
    case outOfMemory

    public var description: String {
        switch self {
        case .tooLong: "the passphrase is longer than \(Passphrase.maximumByteCount) bytes; choose a shorter one"
        case .controlCharacter: "the passphrase contains a control character; leave it out"
        case .notUTF8: "the passphrase is not UTF-8"
        case .weak(let wordCount, let bitCount):
            """
            this passphrase is too easy to guess (\(wordCount) different \(wordCount == 1 ? "word" : "words"), about \(bitCount) bits): use five words \
            or more, or leave --passphrase out for a random secret
            """
        case .outOfMemory:
            "deriving a key from the passphrase needs 64 MiB of memory, which is not available; end other programs"
        }
    }
}
