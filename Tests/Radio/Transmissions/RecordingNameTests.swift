import Testing

@testable import TenfourTransmissions

@Suite struct RecordingNameTests {
    /// 2026-11-22 10:03:17 UTC.
    private static let start = 1_795_341_797

    @Test func theNameTellsWhenWhereAndWho() {
        let name = RecordingName(start: Self.start, channel: "family", talker: "alice")
        #expect(name.text() == "2026-11-22T10-03-17Z_family_alice.opus")
        #expect(name.text(attempt: 3) == "2026-11-22T10-03-17Z_family_alice-3.opus")
        #expect(RecordingName(parsing: name.text()) == name)
    }

    @Test(arguments: [
        ("../../etc/passwd", "etc-passwd"), ("a/b\\c", "a-b-c"), (".hidden", "hidden"), ("-rf", "rf"),
        ("a_b", "a-b"), ("a\u{0}b\nc", "a-b-c"), ("Zoë Müller", "Zoë-Müller"), ("bob.local", "bob.local"),
        ("a..b", "a.b"), ("अनि", "अनि"), ("\u{202E}evil", "evil"), ("🙂", "somebody"), ("", "somebody"),
        ("...", "somebody"), ("$(touch x)", "touch-x"), ("CON", "CON"),
    ])
    func aTalkerIsSafeInAName(talker: String, expected: String) {
        let name = RecordingName(start: 0, channel: "c", talker: talker)
        #expect(name.talker == expected)
        #expect(name.text() == "1970-01-01T00-00-00Z_c_\(expected).opus")
        #expect(RecordingName(parsing: name.text())?.talker == expected)
    }

    @Test func aNameIsNeverTooLong() {
        for letter in ["a", "ß", "日", "🙂", "\u{1F1E6}", "."] {
            let text = String(repeating: letter, count: 2_000)
            let name = RecordingName(start: Self.start, channel: text, talker: text).text(attempt: 100)
            #expect(name.utf8.count <= 160, "\(name.utf8.count)")
        }
    }

    @Test(arguments: [
        "", ".opus", "notes.opus", "2026-11-22T10-03-17Z_family.opus", "2026-11-22T10-03-17Z_family_alice.ogg",
        "2026-13-22T10-03-17Z_family_alice.opus", "2026-11-22 10-03-17Z_family_alice.opus",
        "2026-11-22T10-03-17Z__alice.opus", "2026-11-22T25-03-17Z_a_b.opus", "+026-11-22T10-03-17Z_a_b.opus",
        "2026-11-22T10-03-17Z_a_b_c.opus",
    ])
    func otherNamesAreNotOurs(name: String) { #expect(RecordingName(parsing: name) == nil) }

    @Test(
        arguments: [
            ("1G,30d", 1_000_000_000, 2_592_000), ("500M", 500_000_000, nil), ("12h", nil, 43_200), ("none", nil, nil),
            ("2w,1.5G", 1_500_000_000, 1_209_600),
        ] as [(String, Int?, Int?)])
    func aLimitIsASizeAndAnAge(text: String, byteCount: Int?, age: Int?) {
        #expect(RecordLimit(text) == RecordLimit(byteCount: byteCount, age: age))
        #expect(RecordLimit(text).flatMap { RecordLimit("\($0)") } == RecordLimit(text))
    }

    @Test(arguments: ["", "G", "1", "1G,2G", "1x", "-1G", "0G", "500k", "1G,", "30s", "1m,1h", "1e300G", "nanG"])
    func otherLimitsAreRefused(text: String) { #expect(RecordLimit(text) == nil, "\(text)") }
}
