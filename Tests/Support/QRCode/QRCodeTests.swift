import TenfourQRCode
import Testing

struct QRCodeTests {
    private static let link = "tenfour://radio.example.org/family#talk-aaaa-bbbb-cccc-dddd-eeee-ffff-gggg"

    /// The three finder patterns and the timing patterns between them.
    @Test func aSymbolHasItsEyesAndItsDottedLines() throws {
        let symbol = try #require(QRSymbol(Self.link))
        #expect((symbol.width - 21).isMultiple(of: 4) && symbol.width >= 33)
        let far = symbol.width - 7
        for (top, left) in [(0, 0), (0, far), (far, 0)] {
            for row in 0..<7 {
                for column in 0..<7 {
                    let ring = max(abs(row - 3), abs(column - 3))
                    #expect(symbol.isDark(row: top + row, column: left + column) == (ring != 2))
                }
            }
        }
        for place in 8..<(symbol.width - 8) {
            #expect(symbol.isDark(row: 6, column: place) == place.isMultiple(of: 2))
            #expect(symbol.isDark(row: place, column: 6) == place.isMultiple(of: 2))
        }
    }

    @Test func anotherTextIsAnotherSymbolAndTooMuchIsNone() throws {
        let one = try #require(QRSymbol(Self.link))
        #expect(one == QRSymbol(Self.link))
        #expect(one != QRSymbol(Self.link.replacing("aaaa", with: "aaab")))
        #expect(QRSymbol(String(repeating: "x", count: 2_331)) != nil)
        #expect(QRSymbol(String(repeating: "x", count: 2_332)) == nil)
    }

    @Test(arguments: [false, true])
    func itIsDrawnAsItIsTwoRowsInALine(inColours: Bool) throws {
        let symbol = try #require(QRSymbol(Self.link))
        let lines = symbol.text(inColours: inColours).split(separator: "\n").map { line in
            Array(inColours ? line.dropFirst("\u{1B}[38;5;16;48;5;231m".count).dropLast("\u{1B}[0m".count) : line)
        }
        #expect(lines.count == (symbol.width + 9) / 2)
        for (index, line) in lines.enumerated() {
            try #require(line.count == symbol.width + 8)
            for (column, character) in line.enumerated() {
                let hasInk: [Character: (Bool, Bool)] = [
                    "█": (true, true), "▀": (true, false), "▄": (false, true), " ": (false, false),
                ]
                let ink = try #require(hasInk[character])
                let row = 2 * index - 4
                #expect(ink.0 == (symbol.isDark(row: row, column: column - 4) == inColours))
                guard row + 1 < symbol.width + 4 else { continue }
                #expect(ink.1 == (symbol.isDark(row: row + 1, column: column - 4) == inColours))
            }
        }
    }
}
