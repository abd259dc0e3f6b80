import TenfourAudioCore
import Testing

struct PeerTextTests {
    @Test(arguments: [
        "\u{1B}[2J", "a\nb", "a\r", "\u{7F}", "\u{9B}31m", "\u{0}", "\u{2028}", "\u{2029}", "\u{202E}abc", "\u{2066}x",
        "\u{200F}", "\u{061C}",
    ])
    func controlCharactersAreReplaced(text: String) {
        let shown = String(fromPeer: Array(text.utf8).span)
        #expect(shown.unicodeScalars.count == text.unicodeScalars.count)
        #expect(shown.unicodeScalars.filter { $0 == "\u{FFFD}" }.count == 1)
    }

    @Test func namesOfPeopleStayAsTheyAre() {
        for name in ["Zoë", "李雷", "محمد", "می‌خواهم", "👩‍👩‍👧", "O'Neil; DROP", "a b"] {
            #expect(String(fromPeer: Array(name.utf8).span) == name)
        }
    }

    @Test func invalidUTF8IsReplaced() {
        #expect(
            String(fromPeer: [0x41, 0xFF, 0xC3, 0x42, 0xED, 0xA0, 0x80].span).hasPrefix("A\u{FFFD}\u{FFFD}B\u{FFFD}"))
    }

    @Test func endlessTextEnds() {
        let endless = [UInt8](repeating: 0x41, count: 100_000)
        #expect(String(fromPeer: endless.span, limit: 3) == "AAA…")
        #expect(String(fromPeer: endless.span.extracting(0..<3), limit: 3) == "AAA")
        #expect(String(fromPeer: endless.span).unicodeScalars.count == 256)
        let wide = Array(String(repeating: "👩", count: 50).utf8)
        #expect(String(fromPeer: wide.span, limit: 3) == "👩👩👩…")
    }

    @Test func nothingIsNothing() {
        #expect(String(fromPeer: [UInt8]().span) == "")
    }
}
