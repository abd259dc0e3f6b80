import TenfourCommandSupport
import TestSupport
import Testing

@testable import tenfour

/// A receiver in very small terminals, who hears somebody with a long name of wide letters.
@Suite(.onItsOwnThread, .inRealTime) struct NarrowTerminalTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    /// Starts a receiver and a sender, and waits until the status line shows something like the sender's name.
    private func begin(
        _ terminal: TestSupport.Terminal, until isShown: @escaping (String) -> Bool
    ) throws -> (Program, Program) {
        folder.write(longTone, to: "long.wav")
        let receiver = try Program(
            "tenfour", ["recv", "-p", "\(port)", "-o", "heard.wav"], in: folder, terminal: terminal)
        let name = String(repeating: "東", count: 40)
        let sender = try Program(
            "tenfour", ["send", "--input", "long.wav", "rtp://127.0.0.1:\(port)", "--name", name], in: folder)
        #expect(receiver.wait(.seconds(30)) { terminal.statuses.contains(where: isShown) }, "\(terminal.shown)")
        return (receiver, sender)
    }

    /// Expects that no status line was wider than the terminal. Messages begin in a cleared line, too.
    private func expectFitting(_ terminal: TestSupport.Terminal, columns: Int) {
        let statuses = terminal.statuses.filter { !$0.hasPrefix("tenfour:") }
        #expect(statuses.allSatisfy { $0.columnCount < columns }, "\(Set(statuses))")
    }

    @Test func twentyColumnsShowWhoTalksAndThatItIsMuted() throws {
        let terminal = Terminal(columns: 20, rows: 5)
        let (receiver, sender) = try begin(terminal) { $0.hasPrefix("東") }
        terminal.type("m")
        let isMuted = receiver.wait(.seconds(30)) { terminal.statuses.last?.hasSuffix(" muted") == true }
        #expect(isMuted && terminal.statuses.last?.hasPrefix("東") == true, "\(terminal.shown)")
        expectFitting(terminal, columns: 20)
        #expect(!terminal.inOneLine.contains("the speaker is muted"), "\(terminal.shown)")
        terminal.type("q")
        #expect(receiver.wait() == .code(0))
        withExtendedLifetime(sender) {}
    }

    /// The key m prints its change where the line has no room for it.
    @Test func theKeyForMutingPrintsItsChange() throws {
        let terminal = Terminal(columns: 8, rows: 4)
        let (receiver, sender) = try begin(terminal) { $0.hasPrefix("東") }
        terminal.type("m")
        #expect(receiver.says("the speaker is muted"), "\(terminal.shown)")
        terminal.type("m")
        #expect(receiver.says("speaker is no longer muted"), "\(terminal.shown)")
        expectFitting(terminal, columns: 8)
        terminal.type("q")
        #expect(receiver.wait() == .code(0))
        withExtendedLifetime(sender) {}
    }

    /// Also the last sentence, which the command itself prints.
    @Test func aFatalSentenceBreaksBetweenWords() throws {
        let terminal = Terminal(columns: 30)
        let receiver = try Program("tenfour", ["recv", "-D", "nosuch", "-p", "\(port)"], terminal: terminal)
        #expect(receiver.wait() == .code(69))
        #expect(
            terminal.lines == [
                "tenfour: no sound card named", "'nosuch': `tenfour devices`", "lists the cards",
            ])
    }

    /// The first lines of a program, which has no time to draw anything else.
    @Test func aNarrowTerminalCutsNoWord() throws {
        let terminal = Terminal(columns: 40)
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
