import TenfourChannelKeys
import Testing

struct PassphraseTests {
    @Test(arguments: [
        "correct horse battery staple lamp", "eins zwei drei vier fünf", "x7Q!m2Vp#9Ld", "Tr0ub4dor&3 is weak?",
    ])
    func strongPassphrasesAreAccepted(text: String) {
        #expect(throws: Never.self) { try Passphrase(text, tag: 1) }
    }

    @Test(arguments: [
        "", "password", "letmein letmein letmein letmein letmein", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "123456789012345678", "abcdefghijklmnopqrstuvwxyz", "a b c d e f", "four words are few",
    ])
    func weakPassphrasesAreRefused(text: String) {
        #expect { try Passphrase(text, tag: 1) } throws: { error in
            if case .weak = error as? PassphraseError { true } else { false }
        }
    }

    @Test func aPassphraseBelongsToOneNameAndTag() throws {
        let text = "correct horse battery staple lamp"
        let secret = try Passphrase(text, tag: 1).talkSecret(forChannel: "family")
        #expect(
            try Passphrase("  correct-horse__battery\tstaple lamp ", tag: 1).talkSecret(forChannel: "family") == secret)
        #expect(try Passphrase(text, tag: 2).talkSecret(forChannel: "family") != secret)
        #expect(try Passphrase(text, tag: 1).talkSecret(forChannel: "friends") != secret)
    }

    @Test func passphrasesThatAreNotTextAreRefused() {
        #expect(throws: PassphraseError.controlCharacter) { try Passphrase("one two three four five\u{7}", tag: 1) }
        #expect(throws: PassphraseError.tooLong) { try Passphrase(String(repeating: "a b", count: 86), tag: 1) }
    }
}
