/// The number and the three words of a station that waits at a relay, as another person types them: the number first.
package struct NumberAndWords: Hashable, Sendable {
    package let number: RendezvousNumber
    package let words: PairingWords

    /// Reads both as people type them: the digits of the number together or in groups, and the words as `PairingWords`
    /// reads them.
    package init(typed text: String) throws(NumberAndWordsError) {
        let parts = text.split { $0.isWhitespace || $0 == "-" || $0 == "," }
        let digits = parts.prefix { $0.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) }
        guard !parts.isEmpty else { throw .nothing }
        guard !digits.isEmpty else { throw .noNumber }
        guard let number = RendezvousNumber(typed: digits.joined()) else {
            throw .number(digitCount: digits.reduce(0) { $0 + $1.count })
        }
        self.number = number
        do throws(PairingWordsError) {
            words = try PairingWords(typed: parts.dropFirst(digits.count).joined(separator: " "))
        } catch {
            throw .words(error)
        }
    }
}

/// The reason why a text is not a number with three words behind it.
package enum NumberAndWordsError: Error, Hashable, Sendable, CustomStringConvertible {
    case nothing
    case noNumber
    case number(digitCount: Int)
    case words(PairingWordsError)

    package var description: String {
        switch self {
        case .nothing: "nothing was typed: type the number and the three words that the other station shows"
        case .noNumber: "type the number that the other station shows, and then its three words"
        case .number(let count) where count == 6: "no number begins with 0: ask for it again"
        case .number(let count): "the number has 6 digits, and this one has \(count): ask for it again"
        case .words(.count(let count)):
            "behind the number come three words, and \(count == 0 ? "none were" : count == 1 ? "1 was" : "\(count) were") typed: type the number and all three"
        case .words(let error): error.description
        }
    }
}
