import FuzzTargets
import TenfourAudioCore
import TenfourCommandSupport
import TenfourSeededRandom
import TestSupport
import Testing

struct TerminalInputTests {
    private var input = TerminalInput()

    /// Types all bytes at one moment.
    private mutating func type(_ text: String, at now: Instant = .start) -> [TerminalInput.Event] {
        text.utf8.compactMap { input.append($0, at: now) }
    }

    private func key(_ character: Character, _ change: TerminalKey.Change = .press) -> TerminalInput.Event {
        .key(.character(character), change)
    }

    @Test mutating func charactersAreKeys() {
        #expect(type("m \u{4}é€😀") == [key("m"), key(" "), key("\u{4}"), key("é"), key("€"), key("😀")])
        #expect(input.nextDeadline == nil)
    }

    @Test mutating func invalidUTF8IsIgnored() {
        let bytes: [UInt8] = [0xFF, 0x80, 0xC3, 0x6D, 0xE2, 0x82, 0x71, 0xF4, 0x90, 0x80, 0x80, 0x77]
        #expect(bytes.compactMap { input.append($0, at: .start) } == [key("m"), key("q"), key("w")])
    }

    @Test(arguments: ["\u{1B}[", "\u{1B}O"])
    mutating func arrowsOfPlainTerminals(introducer: String) {
        let arrows: [TerminalKey] = [.up, .down, .right, .left]
        #expect("ABCD".flatMap { type(introducer + String($0)) } == arrows.map { .key($0, .press) })
    }

    @Test mutating func pageKeys() {
        #expect(type("\u{1B}[5~\u{1B}[6~") == [.key(.pageUp, .press), .key(.pageDown, .press)])
        #expect(type("\u{1B}[6;1:3~\u{1B}[57421u") == [.key(.pageDown, .release), .key(.pageUp, .press)])
    }

    @Test mutating func aLoneEscapeIsAKeyAfterItsTime() {
        #expect(type("\u{1B}") == [] && input.nextDeadline == .start + .milliseconds(25))
        #expect(input.timeElapsed(at: .start + .milliseconds(24)) == nil)
        #expect(input.timeElapsed(at: .start + .milliseconds(25)) == key("\u{1B}"))
        #expect(input.nextDeadline == nil && input.timeElapsed(at: .start + .seconds(1)) == nil)
        #expect(type("\u{1B}\u{1B}[A") == [key("\u{1B}"), .key(.up, .press)])
    }

    @Test mutating func aSequenceMayArriveInPieces() {
        #expect(type("\u{1B}[1;1") == [])
        #expect(input.timeElapsed(at: .start + .milliseconds(400)) == nil)
        #expect(type(":3A", at: .start + .milliseconds(400)) == [.key(.up, .release)])
        #expect(type("\u{1B}[3", at: .start + .seconds(1)) == [])
        #expect(input.timeElapsed(at: .start + .milliseconds(1_500)) == nil && input.nextDeadline == nil)
        #expect(type("q") == [key("q")])
    }

    @Test(arguments: [
        "\u{1B}[3~", "\u{1B}[5;5~", "\u{1B}[1;5A", "\u{1B}[[A", "\u{1B}OP", "\u{1B}O5A", "\u{1B}x",
        "\u{1B}]0;title\u{7}",
        "\u{1B}]11;rgb:0/0/0\u{1B}\\", "\u{1B}P1$r0m\u{1B}\\", "\u{1B}_Gi=1;OK\u{1B}\\", "\u{1B}[200~", "\u{1B}[?1;2$y",
        "\u{1B}[97;3u", "\u{1B}[57441;2u", "\u{1B}[97;1:4u", "\u{1B}[u", "\u{1B}[;;;u",
        "\u{1B}[99999999999u", "\u{1B}[1114112u", "\u{1B}[55296u", "\u{1B}[97;0u", "\u{1B}[97;999u", "\u{1B}[?u",
        "\u{1B}[" + String(repeating: "1;", count: 100) + "u",
    ])
    mutating func whatIsNotKnownIsIgnored(sequence: String) {
        #expect(type(sequence + "q") == [key("q")])
    }

    @Test mutating func theFocusIsTold() {
        #expect(type("\u{1B}[I\u{1B}[O") == [.focusGained, .focusLost])
    }

    @Test mutating func answersAreRecognised() {
        #expect(type("\u{1B}[?31u\u{1B}[?62;22c") == [.keyboardFlags(31), .deviceAttributes])
        #expect(type("\u{1B}[?0u") == [.keyboardFlags(0)])
    }

    // MARK: The kitty keyboard protocol

    @Test mutating func spaceIsPressedRepeatsAndIsReleased() {
        #expect(
            type("\u{1B}[32;;32u\u{1B}[32;1:2;32u\u{1B}[32;1:3u") == [key(" "), key(" ", .repeat), key(" ", .release)])
        #expect(type("\u{1B}[32u\u{1B}[32;129:3u") == [key(" "), key(" ", .release)], "Num Lock is no modifier")
    }

    @Test mutating func charactersWithShiftAreThoseOfTheLayout() {
        #expect(type("\u{1B}[47:63;2;63u") == [key("?")])
        #expect(type("\u{1B}[47:63;2u") == [key("?")], "without the text, the shifted key counts")
        #expect(type("\u{1B}[57;1;57u\u{1B}[57408;129;57u") == [key("9"), key("9")])
        #expect(type("\u{1B}[97:65;2;65u") == [key("A")])
        #expect(type("\u{1B}[0;;228u") == [key("ä")], "composed text")
    }

    @Test mutating func controlMakesControlCharacters() {
        #expect(type("\u{1B}[99;5u\u{1B}[122;5u\u{1B}[92;5u") == [key("\u{3}"), key("\u{1A}"), key("\u{1C}")])
        #expect(type("\u{1B}[100;133:1u") == [key("\u{4}")], "with Num Lock")
        #expect(type("\u{1B}[1089::99;5u") == [key("\u{3}")], "Ctrl-C on a Cyrillic layout")
        #expect(type("\u{1B}[53;5u") == [])
    }

    @Test mutating func arrowsHaveChanges() {
        #expect(
            type("\u{1B}[1;1:1A\u{1B}[1;1:2C\u{1B}[1;129:3D\u{1B}[57419u") == [
                .key(.up, .press), .key(.right, .repeat), .key(.left, .release), .key(.up, .press),
            ])
    }

    @Test mutating func noiseGivesNoMoreEventsThanBytes() {
        for seed in 0..<200 {
            var random = SeededRandom(seed: UInt64(seed))
            let bytes = (0..<500).map { _ in
                random.below(3) == 0 ? Array("\u{1B}[?;:u1AO".utf8)[random.below(9)] : UInt8(random.below(256))
            }
            FuzzTarget.terminal.feed(bytes.span)
        }
    }
}
