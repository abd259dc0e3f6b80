import Testing

@testable import TenfourDNSSD

struct StationTextTests {
    @Test func whatIsWrittenIsRead() {
        for accepts: StationText.Accepted in [[], .calls, .pairing, [.calls, .pairing]] {
            let text = StationText(version: "0.5", accepts: accepts)
            #expect(StationText(parsing: text.strings) == text)
        }
    }

    @Test func strangeStringsAreSkipped() {
        let strings: [[UInt8]] = [
            [], [0xFF, 0xFE], Array("=".utf8), Array("accepts".utf8), Array("ACCEPTS=call,,callx,x".utf8),
            Array("version=\u{1B}[2J\(String(repeating: "9", count: 300))".utf8),
        ]
        let text = StationText(parsing: strings + Array(repeating: strings[5], count: 1_000))
        #expect(text.accepts == .calls)
        #expect(text.version == "\u{FFFD}[2J9999999999999999…")
    }
}
