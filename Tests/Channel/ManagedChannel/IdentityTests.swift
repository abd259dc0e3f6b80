import TenfourChannelKeys
import TenfourSeededRandom
import Testing

@testable import TenfourManagedChannel

struct IdentityTests {
    private let vectors = ManagedVectors.written

    @Test(arguments: ["owner", "anna", "bob", "delegate"])
    func anIdentityHasTheKeysOfItsSeed(name: String) throws {
        let key = vectors.identity(name).key
        #expect(key.bytes.array == hex(vectors.publicKeys[name]!))
        #expect(key.agreementKey.array == hex(vectors.agreementKeys[name]!))
        #expect(IdentityLine(key).letters == vectors.letters[name])
        #expect(IdentityLine(key).words == vectors.words[name])
    }

    /// They take 64 MiB, so only one is computed.
    @Test func theWordsToCompareAreThoseOfTheKey() throws {
        let words = try vectors.identity("anna").key.comparisonWords()
        #expect(words.joined(separator: " ") == vectors.comparisonWords["anna"])
    }

    @Test func theFileIsReadAndWritten() throws {
        let bytes = ManagedVectors.bytes("identity")
        let identity = try MemberIdentity(parsingFile: bytes.span)
        #expect(identity.key == vectors.identity("anna").key)
        #expect(identity.fileContent.array == bytes)
        let typed = String(decoding: bytes, as: UTF8.self).replacing("\n", with: " \r\n") + "\n"
        let letters = String(decoding: bytes.dropFirst(19), as: UTF8.self).uppercased()
        #expect(try MemberIdentity(parsingFile: Array(typed.utf8).span).key == identity.key)
        #expect(try MemberIdentity(parsingFile: Array("tenfour identity 1\n\(letters)".utf8).span).key == identity.key)
    }

    @Test(arguments: [
        ("", IdentityFileError.firstLine), ("tenfour identity 2\n", .firstLine), ("tenfour identity 1", .seed),
        ("tenfour identity 1\nabcd\n", .seed), ("tenfour identity 1\n\(String(repeating: "a", count: 53))\n", .seed),
        ("tenfour identity 1\n\(String(repeating: "a", count: 51))9\n", .seed),
        // The last letter has four bits that must be zero.
        ("tenfour identity 1\n\(String(repeating: "a", count: 51))b\n", .seed),
        ("tenfour identity 1\n\(String(repeating: "a", count: 52))\nmore\n", .seed),
        (String(repeating: "a", count: 257), .tooLong),
    ])
    func anotherFormOfFileIsRefused(content: String, reason: IdentityFileError) {
        #expect(throws: reason) { try MemberIdentity(parsingFile: Array(content.utf8).span) }
    }

    @Test func aLineIsReadAsPeopleTypeIt() throws {
        let key = vectors.identity("bob").key
        let (letters, words) = (try #require(vectors.letters["bob"]), try #require(vectors.words["bob"]))
        let sloppy = letters.replacing("o", with: "0").replacing("l", with: "1")
        for text in [
            letters, words, letters.uppercased(), " \(words.uppercased())\n", "ID-" + sloppy.dropFirst(3),
            "id-" + letters.dropFirst(3).filter { $0 != "-" },
        ] {
            #expect(try IdentityLine(text) == IdentityLine(key), "\(text)")
        }
        let named = try IdentityLine(letters + "  Bøb the Builder \n")
        #expect(named.name == "Bøb the Builder" && named.key == key)
        #expect(try IdentityLine(named.words) == named && IdentityLine(named.letters) == named)
    }

    @Test func aTypingErrorIsFound() throws {
        let letters = try #require(vectors.letters["bob"])
        var refused = 0
        for place in letters.indices.dropFirst(3) where letters[place] != "-" {
            var text = letters
            text.replaceSubrange(place...place, with: letters[place] == "a" ? "b" : "a")
            if (try? IdentityLine(text)) == nil { refused += 1 }
        }
        #expect(refused == 54)
        let word = try #require(vectors.words["bob"]).replacing("solar", with: "soler")
        #expect { try IdentityLine(word) } throws: { error in
            "\(error)".contains("word 8 of the identity, 'soler'") && "\(error)".contains("solar")
        }
    }

    @Test(arguments: [
        ("", IdentityLineError.prefix), ("anna", .prefix), ("id-", .prefix), ("id-aaaa", .length),
        ("id-aa!a", .character),
        ("id-" + String(repeating: "a", count: 55), .length), ("id-full-onion-give", .length),
        ("id-" + String(repeating: "a", count: 54), .check), (String(repeating: "a", count: 513), .tooLong),
    ])
    func anotherLineIsRefused(text: String, reason: IdentityLineError) {
        #expect(throws: reason) { try IdentityLine(text) }
        #expect(!reason.description.isEmpty)
    }

    @Test func aNameThatDisturbsATerminalIsRefused() throws {
        let letters = try #require(vectors.letters["bob"])
        for name in ["a\u{1B}[31m", "a\u{202E}b", String(repeating: "ø", count: 33)] {
            #expect(throws: IdentityLineError.name) { try IdentityLine("\(letters) \(name)") }
        }
    }

    /// Points that everybody can compute with: of order 1, 2, 4 and 8, not on the curve, not in the main subgroup, and in
    /// another encoding.
    @Test func aWeakKeyIsNoIdentity() throws {
        let good = vectors.identity("bob").key.bytes.array
        var weak = [
            [1] + [UInt8](repeating: 0, count: 31), [UInt8](repeating: 0, count: 32),
            [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
            [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
            hex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
            [2] + [UInt8](repeating: 0, count: 31),
        ]
        // −y: the good point plus the point of order two, for one of the two signs of x.
        let prime = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        var borrow = 0
        var negated = good
        negated[31] &= 0x7F
        for index in 0..<32 {
            let difference = Int(prime[index]) - Int(negated[index]) - borrow
            negated[index] = UInt8(truncatingIfNeeded: difference)
            borrow = difference < 0 ? 1 : 0
        }
        weak.append(negated)
        for point in weak { #expect(IdentityKey(Bytes32(point.span)) == nil, "\(point)") }
        #expect(IdentityKey(Bytes32(good.span)) != nil)
    }

    @Test func noTextShowsASecret() {
        let identity = vectors.identity("anna")
        let shown = "\(identity) \(String(reflecting: identity)) \(identity.fileContent)"
        #expect(shown == "(identity) (identity) (secret)")
    }
}
