import Glibc
import TenfourAudioCore
import TestSupport
import Testing

@testable import tenfour

/// A call draws attention by the terminal's beep (BEL) and title, and by a desktop notification.
@Suite(.onItsOwnThread, .inRealTime) struct CallAlertTests {
    private let folder = Folder()

    private static let kept = "\u{1B}[22;2t\u{1B}]2;Bob (127.0.0.1) calls\u{1B}\\"
    private static let restored = "\u{1B}]2;tenfour\u{1B}\\\u{1B}[23;2t"

    init() { folder.write(longTone, to: "long.wav") }

    /// Starts the mock of a notification daemon, and returns it with the environment that makes a program use its bus.
    private func desktop(_ mood: String) throws -> (ScriptedServer, [String: String]) {
        let server = try ScriptedServer("notifications.py", [mood], ready: "address ")
        let address = try #require(server.lines.first { $0.hasPrefix("address ") }).dropFirst("address ".count)
        return (server, ["DBUS_SESSION_BUS_ADDRESS": String(address)])
    }

    /// Anybody nearby can call and give up hundreds of times a second.
    @Test func manyCallsBeepAsOftenAsOne() {
        var alert = CallAlert(.init(beeps: true))
        var count = 0
        for round in 0..<1_000 {
            alert.begin("Eve", hasTerminal: true)
            if alert.takeBeep(at: Instant.start + .milliseconds(Int64(round * 10))) { count += 1 }
            alert.end()
        }
        #expect(count == 4, "at 0, 3, 6 and 9 s")
    }

    @Test func theTerminalBeepsAndItsTitleSaysWhoCalls() throws {
        let alice = try StationInTerminal("Alice", in: folder)
        let bob = try StationInTerminal("Bob", in: folder)
        bob.call(alice)
        alice.says("Bob (127.0.0.1) calls: y answers, n declines")
        alice.says(Self.kept)
        #expect(!alice.terminal.shown.contains(Self.restored))
        let hasRung = alice.program.wait(.seconds(20)) { alice.terminal.shown.count { $0 == "\u{7}" } == 2 }
        #expect(hasRung, "once per ring")
        alice.type("n")
        alice.says(Self.restored)
        for station in [bob, alice] { station.quits() }
        #expect(alice.terminal.shown.count { $0 == "\u{7}" } < 5)
        #expect(!bob.terminal.shown.contains("\u{7}") && !bob.terminal.shown.contains("\u{1B}]2"))
    }

    @Test(arguments: [SIGTERM, SIGABRT]) func theTitleIsRestoredAtTheEnd(signal: Int32) throws {
        let alice = try StationInTerminal("Alice", in: folder)
        let bob = try StationInTerminal("Bob", in: folder)
        bob.call(alice)
        alice.says(Self.kept)
        alice.program.send(signal)
        alice.program.wait()
        #expect(alice.terminal.shown.contains(Self.restored), "\(alice.terminal.shown)")
        bob.type("q")
        bob.quits()
    }

    @Test func theTitleIsRestoredWhileTheProgramIsSuspended() throws {
        let terminal = Terminal()
        let port = UDPPort.free()
        let shell = try Program(
            "bash", ["--norc", "--noprofile", "--noediting", "-i"], in: folder,
            environment: [
                "PATH": Program.searchPath, "PS1": "ready> ", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
                "XDG_STATE_HOME": folder.path,
            ], terminal: terminal)
        try #require(shell.says("ready> "), "\(terminal.shown)")
        terminal.type("tenfour talk --input long.wav -o /dev/null -p \(port)\n")
        try #require(shell.says("q quits"), "\(terminal.shown)")
        let bob = try StationInTerminal("Bob", in: folder)
        bob.call(port: port)
        #expect(shell.says(Self.kept), "\(terminal.shown)")
        terminal.type("\u{1A}")
        #expect(shell.says(Self.restored), "\(terminal.shown)")
        #expect(shell.says("Stopped"), "\(terminal.shown)")
        terminal.type("kill %1; fg\n")
        bob.type("q")
        bob.quits()
    }

    @Test func aPlainTerminalOnlyBeeps() throws {
        let alice = try StationInTerminal("Alice", ["--plain"], in: folder)
        let bob = try StationInTerminal("Bob", in: folder)
        bob.call(alice)
        alice.says("Bob (127.0.0.1) calls")
        #expect(alice.program.wait(.seconds(20)) { alice.terminal.shown.contains("\u{7}") })
        #expect(!alice.terminal.shown.contains("\u{1B}]2"))
        let carol = try StationInTerminal("Carol", ["--tones", "none"], in: folder)
        bob.type("q")
        alice.says("missed a call")
        bob.call(carol)
        carol.says("Bob (127.0.0.1) calls")
        carol.type("n")
        bob.says("declined")
        #expect(!carol.terminal.shown.contains("\u{7}"), "a person who wants no tone wants no beep")
        for station in [bob, alice, carol] { station.quits() }
    }

    @Test func theDesktopShowsWhoCalls() throws {
        let (server, environment) = try desktop("daemon")
        let alice = try StationInTerminal("Alice", ["--notify"], in: folder, environment: environment)
        let bob = try StationInTerminal("<b>Bob</b>&", in: folder)
        bob.call(alice)
        let text = "&lt;b&gt;Bob&lt;/b&gt;&amp; (127.0.0.1) calls"
        let line = "Notify tenfour: Incoming call: \(text); call.incoming, 60000 ms"
        #expect(server.wait { server.lines.contains { $0 == line } }, "\(server.lines)")
        alice.type("y")
        #expect(server.wait { server.lines.contains("CloseNotification 1") }, "\(server.lines)")
        alice.says("talking with")
        bob.type("q")
        bob.says("is over")
        alice.says("is over")
        // The program ends during the next call.
        bob.call(alice)
        #expect(server.wait { server.lines.count { $0 == line } == 2 }, "\(server.lines)")
        alice.program.send(SIGTERM)
        #expect(server.wait { server.lines.contains("CloseNotification 2") }, "\(server.lines)")
        #expect(!alice.terminal.shown.contains("on the desktop"))
        bob.says("q quits")
        bob.quits()
    }

    @Test func withoutADesktopASentenceSaysSo() throws {
        let (server, environment) = try desktop("none")
        let alice = try StationInTerminal("Alice", ["--notify"], in: folder, environment: environment)
        alice.says("calls are not shown on the desktop: there is no notification daemon")
        let bob = try StationInTerminal(
            "Bob", ["--notify"], in: folder, environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"])
        bob.says("calls are not shown on the desktop: there is no message bus")
        bob.call(alice)
        alice.says("Bob (127.0.0.1) calls")
        alice.type("n")
        bob.says("declined")
        for station in [bob, alice] { station.quits() }
        #expect(alice.terminal.inOneLine.split(separator: "on the desktop").count == 2)
        #expect(server.lines.count == 1, "the bus is there until the end")
    }

    @Test func aDaemonThatStartsLaterShowsTheNextCall() throws {
        let (server, environment) = try desktop("none")
        let alice = try StationInTerminal("Alice", ["--notify"], in: folder, environment: environment)
        alice.says("there is no notification daemon")
        let bob = try StationInTerminal("Bob", in: folder)
        #expect(server.send("start"))
        bob.call(alice)
        #expect(server.wait { server.lines.contains { $0.hasPrefix("Notify") } }, "\(server.lines)")
        alice.type("n")
        #expect(server.wait { server.lines.contains("CloseNotification 1") }, "\(server.lines)")
        bob.says("declined")
        for station in [bob, alice] { station.quits() }
    }

    /// A daemon that shows nothing holds up no call.
    @Test func aDaemonThatRefusesIsNotAskedAgain() throws {
        let (server, environment) = try desktop("deny")
        let alice = try StationInTerminal("Alice", ["--notify"], in: folder, environment: environment)
        let bob = try StationInTerminal("Bob", in: folder)
        bob.call(alice)
        #expect(server.wait { server.lines.contains { $0.hasPrefix("Notify") } })
        alice.type("y")
        bob.says("talking with Alice")
        bob.type("q")
        for station in [bob, alice] { station.quits() }
        #expect(server.lines.count { $0.hasPrefix("Notify") } == 1)
    }
}
