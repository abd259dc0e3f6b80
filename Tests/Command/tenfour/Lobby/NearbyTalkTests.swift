import Glibc
import TestSupport
import Testing

/// `tenfour talk` on three hosts of one network, each with its own network and mount namespace, message bus and
/// avahi-daemon. They take seconds, because multicast DNS does.
@Suite(.onItsOwnThread, .inRealTime, .needsRoot)
struct NearbyTalkTests {
    private let hosts: ScriptedServer
    private let folder = Folder()

    init() throws {
        hosts = try ScriptedServer("neighbours.py", ["3"], ready: "ready")
        folder.write(longTone, to: "long.wav")
    }

    /// Starts a station on a host. `nsenter` becomes the program.
    private func talk(
        on host: Int, _ name: String, _ terminal: Terminal? = nil, _ options: [String] = []
    ) throws -> Program {
        let inside =
            try ["--net", "--mount", "--root", "--target", Folder.text(of: hosts.path("process-\(host)")), "--"]
            + [Program.path(of: "tenfour"), "talk", "--name", name, "--input", folder("long.wav"), "--open"]
            + ["-o", "/dev/null"]
        return try Program(
            "nsenter", inside + options,
            environment: [
                "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(hosts.path("bus-\(host)"))", "XDG_RUNTIME_DIR": folder.path,
            ], terminal: terminal)
    }

    /// The time until the terminal has shown `text` again, from the time at which `begins` has returned.
    private func time(
        until terminal: Terminal, of program: Program, shows text: String, after begins: () -> Void = {}
    ) -> Duration {
        let count = terminal.shown.split(separator: text, omittingEmptySubsequences: false).count
        begins()
        let start = ContinuousClock.now
        let isThere = program.wait(.seconds(25)) {
            terminal.shown.split(separator: text, omittingEmptySubsequences: false).count > count
        }
        #expect(isThere, "\(text) is missing in: \(terminal.shown)")
        return ContinuousClock.now - start
    }

    @Test func aStationIsSeenCalledCutOffAndGone() throws {
        let terminal = Terminal(columns: 80)
        let alice = try talk(on: 1, "Alice", terminal)
        #expect(alice.says("nobody is near yet"), "\(terminal.shown)")
        // Measured from the time at which the port is bound, which is when the announcement begins.
        let robot = try talk(on: 2, "Robot", nil, ["--auto-answer"])
        let seen = time(until: terminal, of: alice, shows: "1  Robot", after: { _ = robot.says("waiting for calls") })
        #expect(seen < .seconds(2))
        #expect(
            alice.wait(.seconds(10)) { terminal.shown.contains(/Robot +host-2\.local +\d+ ms/) }, "\(terminal.shown)")

        terminal.type("1")
        #expect(alice.says("talking with Robot (10.77.0.2), not encrypted"), "\(terminal.shown)")
        #expect(alice.says("hearing "), "\(terminal.shown)")
        #expect(robot.says("talking with Alice (10.77.0.1)"), "\(robot.errors)")
        terminal.type("q")
        #expect(alice.says("the call with Robot (10.77.0.2) is over"), "\(terminal.shown)")
        #expect(robot.says("the other end hung up"), "\(robot.errors)")

        hosts.send("cut 2")
        let cut = time(until: terminal, of: alice, shows: "not reachable")
        #expect(cut < .seconds(10))
        hosts.send("join 2")
        _ = time(until: terminal, of: alice, shows: " ms")
        robot.send(SIGKILL)
        let gone = time(until: terminal, of: alice, shows: "nobody is near yet")
        #expect(gone < .seconds(2))
        print("tenfour talk: seen after \(seen), not reachable after \(cut), gone after \(gone)")
        terminal.type("q")
        #expect(alice.wait() == .code(0))
    }

    @Test func aFloodOfHostileAnnouncementsStaysOnTheScreen() throws {
        let terminal = Terminal(columns: 80, rows: 24)
        let small = Terminal(columns: 40, rows: 10)
        let alice = try talk(on: 1, "Alice", terminal)
        let carol = try talk(on: 2, "Carol", small, ["--hidden"])
        #expect(carol.says("1  Alice"), "\(small.shown)")
        hosts.send("flood 3 500")
        let isCounted = alice.wait(.seconds(180)) { terminal.shown.contains(/and (4[89]\d|500) more/) }
        #expect(isCounted, "\(terminal.statuses.suffix(20))")
        for (program, terminal) in [(alice, terminal), (carol, small)] {
            terminal.type("q")
            #expect(program.wait() == .code(0))
            // Only our own sequences are there: clearing, and moving up. The hostile names have others.
            let rest = terminal.shown.replacing(/\u{1B}\[(K|J|\d+A|\?[0-9;]*[a-z]|>?[0-9;]*u|c)/, with: "")
            for scalar in rest.unicodeScalars where scalar != "\n" && scalar != "\r" {
                #expect(scalar.properties.generalCategory != .control && scalar.value != 0x202E)
            }
            #expect(!rest.contains("\u{202E}"))
        }
        #expect(!terminal.shown.contains("Carol"), "who hides is not seen")
    }

    @Test func aHiddenStationCallsAndIsAnswered() throws {
        let (terminal, other) = (Terminal(columns: 80), Terminal(columns: 80))
        let alice = try talk(on: 1, "Alice", terminal)
        let bob = try talk(on: 2, "Bob", other, ["--hidden"])
        #expect(bob.says("1  Alice"), "\(other.shown)")
        other.type("\u{1B}[B")
        #expect(bob.says("> 1  Alice") && bob.says("Enter calls Alice"), "\(other.shown)")
        other.type("\r")
        #expect(alice.says("Bob (10.77.0.2) calls: y answers, n declines"), "\(terminal.shown)")
        terminal.type("y")
        #expect(bob.says("talking with Alice (10.77.0.1)"), "\(other.shown)")
        #expect(alice.says("talking with Bob (10.77.0.2)"), "\(terminal.shown)")
        terminal.type("q")
        #expect(bob.says("the other end hung up"), "\(other.shown)")
        #expect(!terminal.shown.contains("1  Bob"))
        for (program, terminal) in [(alice, terminal), (bob, other)] {
            #expect(program.says("is over"), "\(terminal.shown)")
            // For a second after the other end has hung up, the key does nothing.
            for _ in 0..<40 where program.isRunning {
                terminal.type("q")
                program.wait(.milliseconds(500)) { !program.isRunning }
            }
            #expect(program.wait() == .code(0))
        }
    }
}
