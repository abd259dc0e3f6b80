import TestSupport
import Testing

@testable import tenfour

/// The keys of `send` while it plays a file.
@Suite(.onItsOwnThread, .inRealTime) struct SendKeysTests {
    private let folder = Folder()
    private let terminal = Terminal()

    init() { folder.write(longTone, to: "long.wav") }

    private func send(to port: UInt16, _ options: [String] = []) throws -> Program {
        try Program(
            "tenfour", ["send", "rtp://127.0.0.1:\(port)", "--input", "long.wav"] + options, in: folder,
            terminal: terminal)
    }

    @Test func theHelpNamesTheKeysThatHaveAMeaning() throws {
        let receiver = PlainSocket()
        let sender = try send(to: receiver.port)
        #expect(sender.says("? shows the keys"), "\(terminal.shown)")
        terminal.type("?")
        #expect(sender.says("w lists who is here, q quits."), "\(terminal.shown)")
        let shown = terminal.shown
        #expect(shown.contains("s shuffles") && shown.contains("r repeats"), "\(shown)")
        #expect(!shown.contains("l lists") && !shown.contains("w hides") && !shown.contains("fades"), "\(shown)")
        terminal.type("q")
        #expect(sender.wait() == .code(0))
    }

    @Test func withoutAStatusLineSShowsTheState() throws {
        let receiver = PlainSocket()
        let sender = try send(to: receiver.port, ["--plain"])
        #expect(sender.says("? shows the keys"), "\(terminal.shown)")
        // The session has not begun yet.
        terminal.type("s")
        #expect(sender.says("▶ "), "\(terminal.shown)")
        terminal.type("?")
        #expect(sender.says("w lists who is here, q quits."), "\(terminal.shown)")
        #expect(terminal.shown.contains("s shows the state"), "\(terminal.shown)")
        #expect(!terminal.shown.contains("shuffles") && !terminal.shown.contains("waveform"), "\(terminal.shown)")
        #expect(!terminal.shown.contains("shuffled"), "\(terminal.shown)")
        terminal.type("q")
        #expect(sender.wait() == .code(0))
    }

    @Test(arguments: [
        PlayKeys.help, PlayKeys.helpWhileSending(isPlain: false), PlayKeys.helpWhileSending(isPlain: true),
    ])
    func theHelpFitsATerminal(help: String) {
        #expect("tenfour: \(help)".split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(help)")
    }
}
