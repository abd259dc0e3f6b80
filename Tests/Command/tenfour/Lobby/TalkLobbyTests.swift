import Glibc
import TenfourJSON
import TenfourPushToTalk
import TestSupport
import Testing

/// Stations that wait, on one machine without avahi-daemon: they call each other by address. Each is the whole program
/// in a terminal.
@Suite(.onItsOwnThread, .inRealTime) struct TalkLobbyTests {
    private let folder = Folder()

    init() { folder.write(longTone, to: "long.wav") }

    @Test func aCallRingsIsAcceptedIsHeardAndEndsInTheList() throws {
        let alice = try StationInTerminal("Alice", ["--open"], in: folder)
        let bob = try StationInTerminal("Bob", ["--open"], in: folder)
        bob.call(alice)
        bob.says("it rings")
        alice.says("Bob (127.0.0.1) calls: y answers, n declines")
        alice.type("y")
        alice.says("talking with Bob (127.0.0.1), not encrypted; q hangs up")
        bob.says("talking with Alice (127.0.0.1), not encrypted; q hangs up")
        alice.says("hearing ")
        bob.says("hearing ")
        // Somebody else hears that Alice is busy.
        let carol = try StationInTerminal("Carol", in: folder)
        carol.call(alice)
        carol.says("busy: in another call")
        bob.type("q")
        bob.says("the call with Alice (127.0.0.1) is over")
        alice.says("the other end hung up")
        alice.says("the call with Bob (127.0.0.1) is over")
        alice.says("Carol (127.0.0.1) called at ")
        // The list is back, and the next call goes the other way.
        carol.call(alice)
        alice.says("Carol (127.0.0.1) calls")
        alice.type("n")
        carol.says("declined")
        for station in [alice, bob, carol] { station.quits() }
    }

    @Test func aStationWithoutATerminalAcceptsAtOnce() throws {
        let robot = try StationInTerminal("Robot", ["--auto-answer", "--open"], in: folder, hasTerminal: false)
        robot.says("they are accepted at once")
        let bob = try StationInTerminal("Bob", ["--open"], in: folder)
        var descriptorCounts: [Int] = []
        for _ in 0..<3 {
            let count = robot.program.errors.split(separator: "hearing Bob").count
            bob.call(robot)
            bob.says("talking with Robot (127.0.0.1)")
            let isHeard = robot.program.wait(.seconds(20)) {
                robot.program.errors.split(separator: "talking with Bob").count > count
            }
            #expect(isHeard, "\(robot.program.errors)")
            bob.type("q")
            bob.says("the call with Robot (127.0.0.1) is over")
            if descriptorCounts.isEmpty { descriptorCounts = [robot, bob].map(\.program.openDescriptorCount) }
        }
        // Each call after the first closes what it has opened.
        for (station, count) in zip([robot, bob], descriptorCounts) {
            let areClosed = station.program.wait(.seconds(60)) { station.program.openDescriptorCount <= count }
            #expect(areClosed, "\(station.program.openDescriptorCount) after \(count)")
        }
        bob.quits()
        robot.program.send(SIGINT)
        #expect(robot.program.wait() == .code(0), "\(robot.program.errors)")
    }

    @Test func onlyCallsOfTheNamedAreAcceptedAtOnce() throws {
        let alice = try StationInTerminal("Alice", ["--auto-answer", "BOB", "--auto-answer=Dora"], in: folder)
        alice.says("those of BOB and Dora are accepted at once")
        let (bob, carol) = (try StationInTerminal("Bob", in: folder), try StationInTerminal("Carol", in: folder))
        carol.call(alice)
        alice.says("Carol (127.0.0.1) calls: y answers, n declines")
        alice.type("n")
        carol.says("declined")
        bob.call(alice)
        bob.says("talking with Alice (127.0.0.1)")
        alice.says("talking with Bob (127.0.0.1)")
        alice.says("1 here: Bob")
        #expect(!alice.terminal.inOneLine.contains("sends no audio yet"), "the call has told who is there")
        bob.type("q")
        for station in [bob, carol, alice] { station.quits() }
    }

    @Test func withoutATerminalOtherNamesAreRefusedAtOnce() throws {
        let robot = try StationInTerminal("Robot", ["--auto-answer", "Bob"], in: folder, hasTerminal: false)
        let (bob, carol) = (try StationInTerminal("Bob", in: folder), try StationInTerminal("Carol", in: folder))
        carol.call(robot)
        carol.says("takes no calls")
        bob.call(robot)
        bob.says("talking with Robot (127.0.0.1)")
        bob.type("q")
        for station in [bob, carol] { station.quits() }
        robot.program.send(SIGINT)
        #expect(robot.program.wait() == .code(0), "\(robot.program.errors)")
        #expect(!robot.program.errors.contains("Carol"), "\(robot.program.errors)")
    }

    /// A station whose partner's program is killed would otherwise be busy for ever.
    @Test func aPartnerThatIsKilledIsLostAndTheStationIsFree() throws {
        let robot = try StationInTerminal("Robot", ["--auto-answer"], in: folder, hasTerminal: false)
        let (bob, carol) = (try StationInTerminal("Bob", in: folder), try StationInTerminal("Carol", in: folder))
        bob.call(robot)
        bob.says("talking with Robot (127.0.0.1)")
        robot.says("talking with Bob (127.0.0.1)")
        // Nobody talks, and the call stays for longer than a killed partner's would.
        robot.program.wait(.seconds(12)) { robot.program.errors.contains("is over") }
        #expect(!robot.program.errors.contains("is over"), "\(robot.program.errors)")
        #expect(!bob.terminal.inOneLine.contains("nobody answers"), "who has answered the call is there")
        carol.call(robot)
        carol.says("busy: in another call")
        bob.program.send(SIGKILL)
        robot.says("the other end does not answer")
        robot.says("the call with Bob (127.0.0.1) is over")
        carol.call(robot)
        carol.says("talking with Robot (127.0.0.1)")
        carol.type("q")
        carol.quits()
        robot.program.send(SIGINT)
        #expect(robot.program.wait() == .code(0), "\(robot.program.errors)")
    }

    /// Both know who answered, and so who arbitrates.
    @Test func whoTalkInACallTakeTurns() throws {
        let alice = try StationInTerminal("Alice", ["--floor"], in: folder)
        let bob = try StationInTerminal("Bob", ["--floor"], in: folder)
        bob.call(alice)
        alice.says("Bob (127.0.0.1) calls")
        alice.type("y")
        for (one, other) in [(alice, bob), (bob, alice)] {
            one.says("q hangs up")
            other.says("q hangs up")
            one.type(" ")
            other.says("hearing ")
            one.type(" ")
            for station in [one, other] {
                let isIdle = station.program.wait(.seconds(20)) {
                    station.terminal.statuses.last?.contains("the floor") == false
                }
                #expect(isIdle, "\(station.terminal.shown)")
            }
        }
        bob.type("q")
        for station in [alice, bob] { station.quits() }
    }

    /// A name server that does not answer holds up neither the screen nor a call.
    @Test func aCallRingsWhileANameIsLookedUp() throws {
        let alice = try StationInTerminal("Alice", in: folder, environment: ["LD_PRELOAD": StandIn.resolver()])
        let bob = try StationInTerminal("Bob", in: folder)
        for _ in 0..<2 {
            alice.says("q quits")
            alice.type("a")
            alice.says("address: _")
            alice.type("slow.example\n")
            alice.says("looking up slow.example; q cancels")
            alice.type("q")
        }
        alice.says("1-9 calls")
        alice.type("a")
        alice.says("address: _")
        alice.type("slow.example\n")
        alice.says("looking up slow.example")
        bob.call(alice)
        alice.says("Bob (127.0.0.1) calls: y answers, n declines")
        alice.type("y")
        bob.says("talking with Alice (127.0.0.1)")
        alice.says("talking with Bob (127.0.0.1)")
        #expect(!alice.terminal.shown.contains("calling slow.example"))
        bob.type("q")
        for station in [alice, bob] { station.quits() }
    }

    @Test func theNameThatOthersSeeIsTold() throws {
        let avahi = try ScriptedServer("avahi.py", ready: "address ")
        avahi.send("taken Alice")
        avahi.send("appear")
        let bus = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(avahi.path("bus"))"]
        let alice = try StationInTerminal("Alice", in: folder, environment: bus)
        alice.says("others see this station as Alice #2, because Alice is taken")
        let bob = try StationInTerminal("Bob", in: folder, environment: bus)
        #expect(avahi.wait { avahi.lines.contains { $0.hasPrefix("add 'Bob' ") } })
        for station in [alice, bob] { station.quits() }
        #expect(!bob.terminal.inOneLine.contains("others see"), "nothing is told of the name that was asked for")
        // A daemon that may not publish.
        avahi.send("forbid")
        let carol = try StationInTerminal("Carol", in: folder, environment: bus)
        carol.says("others cannot see this station: avahi-daemon: ")
        let hidden = try StationInTerminal("Dan", ["--hidden"], in: folder, environment: bus)
        hidden.says("nobody is near yet")
        for station in [carol, hidden] { station.quits() }
        #expect(!hidden.terminal.inOneLine.contains("others cannot see"))
    }

    @Test func aServiceTakesCalls() throws {
        let port = UDPPort.free()
        folder.write(
            Array(
                """
                port = \(port)
                name = Robot
                input = long.wav
                output = /dev/null
                [stations]
                auto-answer = yes
                [microphone]
                open = yes
                """.utf8), to: "radio.conf")
        let service = try Program(
            "tenfour", ["radio", "--config", "radio.conf"], in: folder,
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "XDG_RUNTIME_DIR": folder.path])
        try #require(service.takes(port: port), "\(service.errors)")
        let bob = try StationInTerminal("Bob", ["--open"], in: folder)
        bob.call(port: port)
        bob.says("talking with Robot (127.0.0.1)")
        bob.says("hearing ")
        service.send(SIGTERM)
        #expect(service.wait() == .code(0), "\(service.errors)")
        #expect(service.errors.contains("talking with Bob (127.0.0.1)"), "\(service.errors)")
        bob.says("the other end hung up")
        bob.quits()
    }

    @Test(.needsLabcard) func aCallRingsOnTheCard() throws {
        let recorder = try Program(
            "arecord",
            ["-q", "-D", "labcard:lobby-ring", "-f", "S16_LE", "-r", "48000", "-c", "1", "-d", "8", "rung.wav"],
            in: folder)
        let alice = try StationInTerminal("Alice", ["-o", "alsa:labcard:lobby-ring"], in: folder)
        let bob = try StationInTerminal("Bob", in: folder)
        bob.call(alice)
        alice.says("Bob (127.0.0.1) calls")
        #expect(recorder.wait() == .code(0), "\(recorder.errors)")
        let peak = try Recording(wav: folder("rung.wav")).channels[0].map(abs).max() ?? 0
        #expect(peak > 0.15, "\(peak)")
        for station in [bob, alice] { station.quits() }
    }

    /// A card may be plugged in before somebody calls.
    @Test func aMissingCardIsToldAtTheStart() throws {
        let terminal = Terminal()
        let options = ["talk", "-D", "nosuch", "-p", "\(UDPPort.free())"]
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "XDG_RUNTIME_DIR": folder.path]
        let alice = try Program("tenfour", options, in: folder, environment: environment, terminal: terminal)
        #expect(alice.says("q quits"))
        let sentence =
            "no call can be made or answered until a sound card works: no sound card named 'nosuch': `tenfour devices` lists the cards"
        #expect(terminal.inOneLine.hasPrefix("tenfour: \(sentence)"), "\(terminal.shown)")
        terminal.type("q")
        #expect(alice.wait() == .code(0))
    }

    @Test func aProgramIsToldWhoCalls() throws {
        let alice = try StationInTerminal("Alice", in: folder)
        alice.says("q quits")
        var client = try PTTClient(
            connectingTo: "\(alice.home.path)/tenfour/ptt-\(alice.program.processID).sock")
        let isSubscribing = client.send(.object([("command", .text("events"))]))
        #expect(isSubscribing)
        let bob = try StationInTerminal("Bob", in: folder)
        bob.call(alice)
        alice.says("Bob (127.0.0.1) calls")
        var lines: [String] = []
        while lines.count < 2, case .json(let event) = client.next(within: 10_000) { lines.append(event.line) }
        #expect(lines.first == #"{ "subscribed": true }"#)
        #expect(lines.last?.hasPrefix(#"{ "event": "calling", "name": "Bob (127.0.0.1)", "address": "#) == true)
        for station in [bob, alice] { station.quits() }
    }

    @Test func aCallerWhoGivesUpLeavesAMissedCall() throws {
        let alice = try StationInTerminal("Alice", in: folder)
        let bob = try StationInTerminal("Bob", in: folder)
        bob.call(alice)
        alice.says("Bob (127.0.0.1) calls")
        bob.type("q")
        alice.says("missed a call from Bob")
        alice.says("Bob (127.0.0.1) called at ")
        // A call that is declined is not missed.
        bob.call(alice)
        bob.says("it rings")
        let rings = alice.program.wait(.seconds(20)) {
            alice.terminal.shown.split(separator: "tenfour: Bob (127.0.0.1) calls").count == 3
        }
        #expect(rings, "\(alice.terminal.shown)")
        alice.type("n")
        bob.says("declined")
        for station in [alice, bob] { station.quits() }
        let state = ["XDG_STATE_HOME": alice.home.path, "XDG_DATA_HOME": alice.home.path]
        let log = try tenfour(["log"], environment: state)
        #expect(log.end == .code(0) && log.errors == "", "\(log.errors)")
        #expect(log.output.contains(/^missed calls\n +... .. ..:..:..  Bob \(127\.0\.0\.1\)\n$/), "\(log.output)")
        let json = try tenfour(["log", "--json"], environment: state).output
        #expect(json.hasPrefix(#"{ "missed_from": "Bob", "address": "127.0.0.1", "start": "#), "\(json)")
    }

    @Test func aCallThatIsMissedInTheSessionThatASignalEndsIsKept() throws {
        let alice = try StationInTerminal("Alice", in: folder)
        let bob = try StationInTerminal("Bob", in: folder)
        bob.call(alice)
        alice.says("Bob (127.0.0.1) calls")
        alice.type("y")
        alice.says("talking with Bob")
        let carol = try StationInTerminal("Carol", in: folder)
        carol.call(alice)
        carol.says("busy: in another call")
        alice.program.send(SIGTERM)
        #expect(alice.program.wait() == .code(0), "\(alice.terminal.shown)")
        let log = try tenfour(
            ["log"], environment: ["XDG_STATE_HOME": alice.home.path, "XDG_DATA_HOME": alice.home.path])
        #expect(log.output.contains("Carol (127.0.0.1)"), "\(log.output)\(alice.terminal.shown)")
        for station in [bob, carol] { station.quits() }
    }

    /// `tenfour talk HOST` sends no invitation.
    @Test func plainRTPIsToldAndAnswered() throws {
        let alice = try StationInTerminal("Alice", ["--open"], in: folder)
        let port = UDPPort.free()
        let bob = try Program(
            "tenfour",
            [
                "talk", "127.0.0.1:\(alice.port)", "-p", "\(port)", "--name", "Bob", "--input", "long.wav", "--open",
                "-o",
                "bob.wav",
            ], in: folder)
        alice.says("Bob (127.0.0.1) talks to this station by plain RTP, without a call: y answers, n ignores it")
        alice.type("y")
        #expect(bob.says("is Alice"), "\(bob.errors)")
        alice.says("hearing ")
        alice.type("q")
        alice.says("is over")
        bob.send(SIGINT)
        #expect(bob.wait() == .code(0), "\(bob.errors)")
        alice.quits()
    }

    @Test func withoutADaemonTheRemedyIsToldOnce() throws {
        let alice = try StationInTerminal("Alice", in: folder)
        alice.says("stations nearby cannot be found: there is no system bus; install and start dbus and avahi-daemon")
        alice.quits()
        #expect(alice.terminal.shown.split(separator: "cannot be found").count == 2)
    }
}
