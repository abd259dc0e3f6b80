/// A word of a secret that is none of those that secrets are written in.
public struct Misspelling: Hashable, Sendable {
    /// Counted from 1.
    public let place: Int
    /// As it was written, cut where it is long.
    public let word: String
    /// The words that may be meant, at most three.
    public let nearest: [String]

    private static let shownLength = 20

    /// The first such word; nil where fewer than half of them are words of the list, so that letters and digits are meant.
    init?(in text: Span<UInt8>) {
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

/// Finds the words that a misspelt word may be meant to be.
package enum Spelling {
    /// Those of `words` that are one slip away from `word`, else those that are two; none where that is most of the word.
    package static func nearest(to word: String, among words: [String]) -> [String] {
        let written = Array(word.lowercased().utf8)
        let distances = words.map { ($0, distance(written, Array($0.utf8))) }
        for slips in 1...2 where 2 * slips <= written.count {
            let near = distances.filter { $0.1 == slips }.map(\.0)
            if !near.isEmpty { return near }
        }
        return []
    }

    /// Letters left out, put in, taken for another, or exchanged with their neighbour.
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
