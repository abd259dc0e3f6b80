/// A word in a secret that is not in the word list.
public struct Misspelling: Hashable, Sendable {
    /// The position of the word in the secret, starting at 1.
    public let place: Int
    /// The word as it was written, cut after 20 bytes.
    public let word: String
    /// The most similar words of the list, at most three.
    public let nearest: [String]

    private static let shownLength = 20

    /// Finds the first word of `text` that is not in the word list. The result is nil if all words are in the list. It
    /// is also nil if fewer than half of them are, because the secret is then written in letters and digits.
    package init?(in text: Span<UInt8>) {
        var words: [[UInt8]] = [[]]
        for index in text.indices {
            if text[index] == UInt8(ascii: "-") { words.append([]) } else { words[words.count - 1].append(text[index]) }
        }
        let isKnown = words.map { SecretWords.numbers(in: $0.span) != nil }
        guard 2 * isKnown.count(where: \.self) >= words.count, let index = isKnown.firstIndex(of: false) else {
            return nil
        }
        place = index + 1
        word = String(decoding: words[index].prefix(Self.shownLength), as: UTF8.self)
        nearest = Array(Spelling.nearest(to: word, among: SecretWords.all).prefix(3))
    }
}

/// Finds corrections of a misspelt word.
package enum Spelling {
    /// Returns the words that differ from `word` by one typing error, or if there are none, by two. Searches for one
    /// error only if `word` has at least two bytes, and for two errors only if it has at least four.
    package static func nearest(to word: String, among words: [String]) -> [String] {
        let written = Array(word.lowercased().utf8)
        let distances = words.map { ($0, distance(written, Array($0.utf8))) }
        for slips in 1...2 where 2 * slips <= written.count {
            let near = distances.filter { $0.1 == slips }.map(\.0)
            if !near.isEmpty { return near }
        }
        return []
    }

    /// Returns the number of typing errors between two words: a letter is missing, added, replaced, or swapped with its
    /// neighbour.
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for row in one.indices {
            var current = [row + 1]
            for column in other.indices {
                var best = last[column] + (one[row] == other[column] ? 0 : 1)
                best = min(best, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[other.count]
    }
}
