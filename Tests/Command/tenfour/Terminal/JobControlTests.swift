import Glibc
import TestSupport
import Testing

/// Ctrl-Z, `fg` and `bg` in a shell with job control.
@Suite(.onItsOwnThread, .inRealTime) struct JobControlTests {
    private let folder = Folder()
    private let terminal = Terminal()
    private let port = UDPPort.free()
    private let shell: Program

    /// The terminal settings of a shell without a line editor, and those for single keys.
    private static let lineModes = tcflag_t(ICANON | ECHO)

    init() throws {
        folder.write(longTone, to: "long.wav")
        shell = try Program(
            "bash", ["--norc", "--noprofile", "--noediting", "-i"], in: folder,
            environment: ["PATH": Program.searchPath, "PS1": "ready> "], terminal: terminal)
        try #require(shell.says("ready> "), "\(terminal.shown)")
    }

    /// Types a line and waits until the shell shows its prompt again.
    private func enter(_ line: String) throws {
        let count = terminal.shown.split(separator: "ready> ", omittingEmptySubsequences: false).count
        terminal.type(line)
        let isReady = shell.wait(.seconds(20)) {
            terminal.shown.split(separator: "ready> ", omittingEmptySubsequences: false).count > count
        }
        try #require(isReady, "\(terminal.shown)")
    }

    private func waits(for isSo: () -> Bool) -> Bool { shell.wait(.seconds(20), until: isSo) }

    private var hasKeys: Bool { terminal.localModes & Self.lineModes == 0 }
    private var hasLines: Bool { terminal.localModes & Self.lineModes == Self.lineModes }

    private static let talk = "tenfour talk 127.0.0.1:9 --input long.wav -o heard.wav -p "

    @Test func aMicrophoneIsOpenedByAKeyAfterTheForegroundIsBack() throws {
        terminal.type("\(Self.talk)\(port)\n")
        #expect(waits { terminal.statuses.last?.hasPrefix("mic closed") == true && hasKeys }, "\(terminal.shown)")
        for _ in 0..<2 {
            try enter("\u{1A}")
            #expect(hasLines, "the shell's line is edited and shown as before")
            #expect(terminal.lines.last == "ready> ", "nothing is left of the status line: \(terminal.lines)")
            terminal.type("fg\n")
            #expect(waits { hasKeys }, "\(terminal.shown)")
        }
        terminal.type(" ")
        #expect(waits { terminal.statuses.last?.hasPrefix("ON AIR") == true }, "\(terminal.shown)")
        terminal.type(" ")
        #expect(waits { terminal.statuses.last?.hasPrefix("mic closed") == true }, "\(terminal.shown)")
        try enter("q")
        #expect(hasLines)
    }

    /// In the background, `tenfour` draws nothing and reads no keys: the shell receives the input.
    @Test func inTheBackgroundTheTerminalIsTheShells() throws {
        terminal.type("\(Self.talk)\(port)\n")
        #expect(waits { terminal.statuses.last?.hasPrefix("mic closed") == true && hasKeys }, "\(terminal.shown)")
        try enter("\u{1A}")
        try enter("bg\n")
        let statusCount = terminal.statuses.count
        shell.wait(.seconds(1)) { false }
        #expect(terminal.statuses.count == statusCount && hasLines, "\(terminal.shown)")
        try enter("echo $((6 * 7)); jobs\n")
        #expect(terminal.lines.contains("42") && terminal.shown.contains("Running"), "\(terminal.shown)")
        terminal.type("fg\n")
        #expect(waits { hasKeys && terminal.statuses.count > statusCount }, "\(terminal.shown)")
        try enter("q")
        #expect(hasLines)
    }

    @Test func oneThatBeganInTheBackgroundTakesKeysInTheForeground() throws {
        try enter("\(Self.talk)\(port) &\n")
        #expect(waits { terminal.inOneLine.contains("talking with") }, "\(terminal.shown)")
        shell.wait(.seconds(1)) { false }
        #expect(hasLines && terminal.statuses.isEmpty, "\(terminal.shown)")
        terminal.type("fg\n")
        #expect(waits { hasKeys && !terminal.statuses.isEmpty }, "\(terminal.shown)")
        try enter("q")
        #expect(hasLines)
    }

    /// The stop is not blamed on a slow machine or on the sound card, of which there is none.
    @Test func aStopIsSaidToBeOne() throws {
        terminal.type("tenfour recv -p \(port) -o heard.wav\n")
        #expect(waits { terminal.statuses.last == "nobody is heard yet" }, "\(terminal.shown)")
        let sender = try Program(
            "tenfour", ["send", "--input", "long.wav", "rtp://127.0.0.1:\(port)", "--name", "Alice"], in: folder)
        #expect(waits { terminal.statuses.last?.hasPrefix("Alice") == true }, "\(terminal.shown)")
        try enter("\u{1A}")
        shell.wait(.seconds(2)) { false }
        terminal.type("fg\n")
        #expect(waits { terminal.inOneLine.contains("the program was stopped for ") }, "\(terminal.shown)")
        shell.wait(.seconds(2)) { false }
        #expect(!terminal.shown.contains("card") && !terminal.inOneLine.contains("too slow"), "\(terminal.shown)")
        try enter("q")
        #expect(terminal.inOneLine.contains("; stopped for "), "\(terminal.shown)")
        sender.send(SIGINT)
    }

    @Test(.needsLabcard) func aPlayerIsLedByKeysAfterTheForegroundIsBack() throws {
        terminal.type("tenfour play long.wav -D labcard:jobs\n")
        #expect(waits { terminal.statuses.last?.hasPrefix("▶") == true && hasKeys }, "\(terminal.shown)")
        try enter("\u{1A}")
        #expect(hasLines && terminal.lines.last == "ready> ", "\(terminal.lines)")
        terminal.type("fg\n")
        #expect(waits { hasKeys }, "\(terminal.shown)")
        terminal.type("p")
        #expect(waits { terminal.statuses.last?.hasPrefix("⏸") == true }, "\(terminal.shown)")
        try enter("q")
        #expect(hasLines)
    }
}
