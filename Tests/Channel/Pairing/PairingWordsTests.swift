import TenfourSeededRandom
import Testing

@testable import TenfourPairing

struct PairingWordsTests {
    private let words = PairingWordList.all

    @Test func theListHas1024WordsInOrder() {
        #expect(words.count == 1024)
        #expect(words == words.sorted())
        #expect(Set(words).count == 1024)
        for word in words {
            #expect((4...7).contains(word.count))
            #expect(word.allSatisfy { ("a"..."z").contains($0) })
        }
    }

    /// So four letters are enough to type, and a misheard ending does no harm.
    @Test func fourLettersIdentifyAWord() {
        #expect(Set(words.map { $0.prefix(4) }).count == words.count)
    }

    @Test func wordsAreReadAsPeopleTypeThem() throws {
        let words = try PairingWords(typed: "acorn river zebra")
        for typed in [
            "Acorn River ZEBRA", "acorn-river-zebra", " acorn,  river,zebra\n", "acor rive zebr",
            "acorn\triver\tzebra",
        ] {
            #expect(try PairingWords(typed: typed) == words)
        }
        #expect(words.text == "acorn river zebra")
        #expect(words.password == Array("acorn-river-zebra".utf8))
    }

    @Test(arguments: ["", "acorn", "acorn river", "acorn river zebra acorn"])
    func anotherNumberOfWordsIsRefused(text: String) {
        let count = text.split(separator: " ").count
        #expect(throws: PairingWordsError.count(count)) { try PairingWords(typed: text) }
    }

    @Test func aMisspeltWordIsToldWithItsPlaceAndWhatMayBeRight() {
        #expect(throws: PairingWordsError.unknown("rivver", place: 2, nearest: ["river"])) {
            try PairingWords(typed: "acorn rivver zebra")
        }
        // Letters after the fourth must be those of the word, and three letters are too few.
        #expect(throws: PairingWordsError.self) { try PairingWords(typed: "acorn riverbank zebra") }
        #expect(throws: PairingWordsError.self) { try PairingWords(typed: "acorn riv zebra") }
        #expect(throws: PairingWordsError.self) { try PairingWords(typed: "ácorn river zebra") }
    }

    @Test func drawnWordsDifferAndCanBeTyped() throws {
        var randomness = SeededRandom(seed: 1)
        let drawn = (0..<100).map { _ in PairingWords(using: &randomness) }
        #expect(Set(drawn).count == 100)
        for words in drawn { #expect(try PairingWords(typed: words.text) == words) }
    }

    @Test func noLogContainsTheWords() throws {
        let words = try PairingWords(typed: "acorn river zebra")
        var dumped = ""
        dump(words, to: &dumped)
        for text in ["\(words)", String(reflecting: words), dumped] { #expect(!text.contains("acorn")) }
    }
}
