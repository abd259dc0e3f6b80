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

    /// A person reads the sentence at the prompt.
    @Test func theSentenceSaysWhatToType() {
        #expect(
            "\(PairingWordsError.count(0))" == "no words were typed: type the three words that the other station shows")
        #expect(
            "\(PairingWordsError.count(1))"
                == "the other station shows three words, and 1 was typed: type all three, with spaces between them")
        func sentence(_ typed: String) -> String? {
            #expect(throws: NumberAndWordsError.self) { try NumberAndWords(typed: typed) }?.description
        }
        #expect(sentence(" ") == "nothing was typed: type the number and the three words that the other station shows")
        #expect(sentence("acorn") == "type the number that the other station shows, and then its three words")
        #expect(
            sentence("482 913")
                == "behind the number come three words, and none were typed: type the number and all three")
        #expect(
            sentence("482913 acorn")
                == "behind the number come three words, and 1 was typed: type the number and all three")
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

    /// The number that a station shows at a relay is typed in front of its words.
    @Test(arguments: [
        "482913 acorn river zebra", " 482 913, acorn river zebra", "482-913-acorn-river-zebra",
        "4 8 2 9 1 3 Acor RIVE zebr",
    ])
    func aNumberMayBeTypedInFrontOfTheWords(text: String) throws {
        let typed = try NumberAndWords(typed: text)
        #expect(typed.number.rawValue == 482_913)
        #expect(try typed.words == PairingWords(typed: "acorn river zebra"))
        #expect(!"\(typed)".contains("acorn"))
    }

    @Test func aWrongNumberIsToldWithItsReason() {
        let cases: [(String, NumberAndWordsError)] = [
            ("", .nothing), ("acorn river zebra", .noNumber), ("acorn 482913 river zebra", .noNumber),
            ("٤٨٢٩١٣ acorn river zebra", .noNumber), ("48291 acorn river zebra", .number(digitCount: 5)),
            ("482 9134 acorn river zebra", .number(digitCount: 7)),
            ("048291 acorn river zebra", .number(digitCount: 6)),
            ("482913", .words(.count(0))), ("482913 acorn river", .words(.count(2))),
        ]
        for (text, error) in cases { #expect(throws: error, "\(text)") { try NumberAndWords(typed: text) } }
        #expect("\(NumberAndWordsError.number(digitCount: 6))".contains("begins with 0"))
    }

    @Test func noLogContainsTheWords() throws {
        let words = try PairingWords(typed: "acorn river zebra")
        var dumped = ""
        dump(words, to: &dumped)
        for text in ["\(words)", String(reflecting: words), dumped] { #expect(!text.contains("acorn")) }
    }
}
