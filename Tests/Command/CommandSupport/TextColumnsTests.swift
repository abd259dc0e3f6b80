import TenfourCommandSupport
import Testing

/// Text in the columns of a terminal.
struct TextColumnsTests {
    @Test func linesBreakBetweenWords() {
        let text = "weather: the echo of monitored channels is not cancelled"
        #expect(text.wrapped(toColumns: 24) == ["weather: the echo of", "monitored channels is", "not cancelled"])
        #expect(text.wrapped(toColumns: 56) == [text])
        #expect("a  b".wrapped(toColumns: 4) == ["a  b"])
        #expect(
            "see https://example.org/a-long-way now".wrapped(toColumns: 10) == [
                "see", "https://example.org/a-long-way", "now",
            ])
        #expect("".wrapped(toColumns: 1) == [""])
    }

    /// A person copies it from the screen.
    @Test func aCommandIsNotBrokenIfALineHasRoomForIt() {
        let text = "start it (`systemctl --user start pipewire`, or `pulseaudio --start`) now"
        #expect(
            text.wrapped(toColumns: 40) == [
                "start it", "(`systemctl --user start pipewire`, or", "`pulseaudio --start`) now",
            ])
        #expect(text.wrapped(toColumns: 20).allSatisfy { $0.count <= 20 })
        #expect("an odd ` breaks as others do".wrapped(toColumns: 12) == ["an odd `", "breaks as", "others do"])
        #expect("one line\nand another one".wrappedLines(toColumns: 12) == "one line\nand another\none")
    }

    @Test func wideLettersBreakEarlier() {
        #expect("東京 東京 東京".wrapped(toColumns: 10) == ["東京 東京", "東京"])
        #expect(["東京", "a"].wrapped(toColumns: 8, behind: "東  ", indent: "    ") == ["東  東京", "    a"])
    }

    /// As many columns as `wcswidth` counts, and two for a letter that is made a picture.
    @Test(arguments: [
        ("abc", 3), ("東京", 4), ("e\u{301}", 1), ("x\u{300}\u{301}\u{302}", 1), ("\u{1112}\u{1161}\u{11AB}", 2),
        ("한", 2),
        ("👍", 2), ("⌚", 2), ("✅", 2), ("⭐", 2), ("☀", 1), ("☀\u{FE0F}", 2), ("⭐\u{FE0F}", 2), ("⌚\u{FE0F}a", 3),
        ("\u{FE0F}", 0), ("🇩🇪", 4), ("\u{200B}\u{200D}", 0),
        ("a\u{AD}b", 3), ("ｱ", 1), ("Ａ", 2), ("क्षि", 3), ("…▶━", 3), ("𠀀", 2), ("\u{1F0A1}", 1),
    ]) func lettersHaveTheColumnsOfATerminal(_ text: String, _ columns: Int) {
        #expect(text.columnCount == columns)
    }

    @Test func aTextIsCutBetweenLetters() {
        #expect("東京東京".cut(toColumns: 8) == "東京東京")
        #expect("東京東京".cut(toColumns: 7) == "東京東…" && "東京東京".cut(toColumns: 6) == "東京…")
        #expect("ae\u{301}ioe\u{301}".cut(toColumns: 3) == "ae\u{301}…")
        #expect("東京".cut(toColumns: 1) == "…" && "東京".cut(toColumns: 0) == "")
        #expect("東e\u{301}".fitted(toColumns: 5) == "東e\u{301}  ")
    }
}
