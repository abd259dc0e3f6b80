import Glibc
import TestSupport
import Testing

@testable import tenfour

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

    @Test func wideLettersBreakEarlier() {
        #expect("東京 東京 東京".wrapped(toColumns: 10) == ["東京 東京", "東京"])
        #expect(["東京", "a"].wrapped(toColumns: 8, behind: "東  ", indent: "    ") == ["東  東京", "    a"])
    }

    /// The first lines of a program, which has no time to draw anything else.
    @Test(.onItsOwnThread, .inRealTime) func aNarrowTerminalCutsNoWord() throws {
        let terminal = Terminal(columns: 40)
        let folder = Folder()
        let receiver = try Program(
            "tenfour", ["recv", "-p", "\(UDPPort.free())", "-o", "heard.wav"], in: folder, terminal: terminal)
        #expect(receiver.says("? shows the keys"), "\(terminal.shown)")
        terminal.type("?")
        #expect(receiver.says("w lists who is here"), "\(terminal.shown)")
        #expect(terminal.lines.allSatisfy { $0.count <= 40 }, "\(terminal.lines)")
        terminal.type("q")
        #expect(receiver.wait() == .code(0))
    }
}
