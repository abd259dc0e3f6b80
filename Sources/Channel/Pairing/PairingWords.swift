internal import TenfourChannelKeys

/// Three words that one person says to another, who types them: 30 random bits, good for one pairing.
///
/// Nobody can try words offline: each guess takes a run of the protocol with one of the two ends, and each end permits
/// three.
public struct PairingWords: Hashable, Sendable {
    private let words: [String]

    public static let count = 3

    /// Draws three words. `generator` must be unpredictable: the system's generator, outside tests.
    public init(using generator: inout some RandomNumberGenerator) {
        words = (0..<Self.count).map { _ in
            PairingWordList.all[Int.random(in: PairingWordList.all.indices, using: &generator)]
        }
    }

    /// Reads words as people type them: in capital or small letters, separated by spaces, hyphens or commas, each in
    /// full or cut off after four letters or more.
    public init(typed text: String) throws(PairingWordsError) {
        let typed = text.lowercased().split { $0.isWhitespace || $0 == "-" || $0 == "," }
        guard typed.count == Self.count else { throw .count(typed.count) }
        var words: [String] = []
        for (index, word) in typed.enumerated() {
            guard let known = PairingWordList.byPrefix[word.prefix(PairingWordList.prefixLength)], known.hasPrefix(word)
            else { throw PairingWordsError(unknown: word, at: index) }
            words.append(known)
        }
        self.words = words
    }

    /// The words with a space between them, to be shown to the person who says them.
    public var text: String { words.joined(separator: " ") }

    /// The words as input of CPace: in small letters, with a hyphen between them.
    var password: [UInt8] { Array(words.joined(separator: "-").utf8) }
}

extension PairingWords: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Contains no word, so that no log does.
    public var description: String { "(pairing words)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why a text is not three words for pairing.
public enum PairingWordsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text has another number of words.
    case count(Int)
    /// A word is not in the list; `place` counts from 1. `nearest` are the most similar words, at most three.
    case unknown(String, place: Int, nearest: [String])

    private static let longestShownWord = 20

    fileprivate init(unknown word: Substring, at index: Int) {
        let shown = String(word.prefix(Self.longestShownWord))
        let nearest = Spelling.nearest(to: shown, among: PairingWordList.all)
        self = .unknown(shown, place: index + 1, nearest: Array(nearest.prefix(3)))
    }

    public var description: String {
        switch self {
        case .count(0): return "no words were typed: type the three words that the other station shows"
        case .count(let count):
            let typed = count == 1 ? "1 was typed" : "\(count) were typed"
            return "the other station shows three words, and \(typed): type all three, with spaces between them"
        case .unknown(let word, let place, let nearest):
            let remedy =
                nearest.isEmpty
                ? "ask for it again" : "\(nearest.map { "'\($0)'" }.joined(separator: " or ")) may be right"
            return "word \(place), '\(word)', is not a word for pairing: \(remedy)"
        }
    }
}
