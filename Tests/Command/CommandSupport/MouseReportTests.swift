import TenfourAudioCore
import TenfourCommandSupport
import Testing

/// Reports of the mouse, and of the cursor's place.
struct MouseReportTests {
    private var input = TerminalInput()

    private mutating func type(_ text: String) -> [TerminalInput.Event] {
        text.utf8.compactMap { input.append($0, at: .start) }
    }

    @Test mutating func theLeftButtonIsPressedDraggedAndReleased() {
        let events = type("\u{1B}[<0;3;4M\u{1B}[<32;5;4M\u{1B}[<0;9999;4m")
        let reports = events.compactMap { if case .mouse(let report) = $0 { report } else { nil } }
        #expect(reports.map(\.action) == [.press, .drag, .release] && events.count == 3)
        #expect(reports.map(\.column) == [2, 4, 9_998] && reports.map(\.line) == [3, 3, 3])
    }

    @Test mutating func modifiersDoNotMatter() {
        let events = type("\u{1B}[<16;1;1M\u{1B}[<36;1;1M")
        #expect(events.count == 2)
    }

    @Test(arguments: [
        "<64;3;4M", "<65;3;4M", "<1;3;4M", "<2;3;4M", "<35;3;4M", "<0;3M", "<0;3;4;5M", "<0;0;4M", "<0;3;0M", "<0;;4M",
        "<0;10000;1M", "<-1;3;4M", "<0:1;3;4M", "<;;M", "<M", "<0;3;99999999999999999999M", "<0;3;4R", "0;3;4M",
        "<<0;3;4M",
        "R", "0;0R", "1R", "1;2;3R", "?1;2R", "99999999;1R", "1:2;3R",
    ])
    mutating func aReportThatIsNoneIsIgnored(sequence: String) {
        #expect(type("\u{1B}[\(sequence)q") == [.key(.character("q"), .press)])
    }

    @Test mutating func thePlaceOfTheCursorIsTold() {
        #expect(type("\u{1B}[24;80R") == [.cursorPosition(line: 23, column: 79)])
    }
}
