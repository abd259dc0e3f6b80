import Glibc
import TestSupport
import Testing

/// The floor of a channel, as the people who talk in it and the operator of its relay see it.
@Suite(.onItsOwnThread, .inRealTime) struct FloorCommandTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private var environment: [String: String] { ["XDG_CONFIG_HOME": folder.path, "HOME": folder.path] }

    /// A station in a terminal.
    private struct Station {
        let terminal = Terminal()
        let program: Program

        init(_ name: String, _ options: [String], in folder: Folder, _ environment: [String: String]) throws {
            program = try Program(
                "tenfour", ["talk", "family", "-D", "null", "--name", name] + options, in: folder,
                environment: environment, terminal: terminal)
            try #require(program.says("in the channel"), "\(terminal.shown)")
        }

        func toggle() { terminal.type(" ") }

        /// Waits for a line or a part of the status line.
        func shows(_ text: String, _ location: SourceLocation = #_sourceLocation) {
            #expect(program.says(text), "\(terminal.shown)", sourceLocation: location)
        }
    }

    /// Starts a relay with one channel, which is saved. `words` are further words of the channel's line.
    private func relay(_ words: String = "") throws -> Program {
        let new = try tenfour(
            ["channel", "new", "family", "--relay", "localhost:\(port)", "--save"], in: folder, environment: environment
        )
        let line = try #require(new.output.split(separator: "\n").first { $0.hasPrefix("channel ") })
        folder.write("bind 127.0.0.1:\(port)\n\(line)\(words)\n", to: "relay.conf")
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(relay.says("relaying on"), "\(relay.errors)")
        return relay
    }

    private func station(_ name: String, _ options: String...) throws -> Station {
        try Station(name, options, in: folder, environment)
    }

    private func status(_ options: [String] = []) -> String {
        (try? tenfour(["relay", "status", "--socket", "relay.sock"] + options, in: folder).output) ?? ""
    }

    /// Waits until the relay's status contains a text.
    private func statusShows(_ text: String, _ relay: Program, json: Bool = false) {
        var last = ""
        relay.wait(.seconds(10)) {
            last = status(json ? ["--json"] : [])
            return last.contains(text)
        }
        #expect(last.contains(text), "\(last)")
    }

    @Test func aPersonSeesWhoTalksItsPlaceInTheQueueAndItsTurn() throws {
        let relay = try relay(" talk-time=20")
        let alice = try station("Alice", "--floor")
        let bob = try station("Bob", "--floor-queue")
        let carol = try station("Carol", "--floor")
        alice.toggle()
        alice.shows("you have the floor")
        statusShows(" has the floor\n", relay)
        carol.shows("Alice has the floor")
        carol.toggle()
        carol.shows("you cannot talk now: Alice talks")
        bob.toggle()
        bob.shows("you are number 1 of 1 who wait: talk when you hear the tone")
        bob.shows("waiting, 1 of 1")
        statusShows(" has the floor, 1 waits\n", relay)
        statusShows(
            #""emergency": false, "waiting": 1, "arbiter": "this-relay", "requests": 3, "denied": 1"#, relay, json: true
        )
        alice.toggle()
        bob.shows("you have the floor")
        carol.shows("Bob has the floor")
        carol.terminal.type("?")
        carol.shows("e twice takes the floor from the talker")
        carol.terminal.type("ee")
        carol.shows("for an emergency, press e twice within 1 s")
        bob.shows("an emergency takes the floor")
        alice.shows("EMERGENCY: Carol talks")
        statusShows(" has the floor in an emergency\n", relay)
    }

    @Test func amongThoseWhoUseNoFloorTheHelpNamesNoEmergency() throws {
        let relay = try relay()
        let alice = try station("Alice")
        alice.terminal.type("?")
        alice.shows("w lists who is here")
        #expect(!alice.terminal.shown.contains("e twice"))
        withExtendedLifetime(relay) {}
    }

    @Test func whereTheRelayGrantsNoFloorOneTalksWhileNobodyIsHeard() throws {
        let relay = try relay()
        let alice = try station("Alice", "--floor")
        alice.shows("the other end grants no floor: you can talk while nobody else is heard")
        alice.toggle()
        #expect(
            alice.program.wait(.seconds(10)) { alice.terminal.statuses.last?.contains("ON AIR") == true },
            "\(alice.terminal.shown)")
        #expect(status(["--json"]).contains(#""floor": null"#))
        withExtendedLifetime(relay) {}
    }

    /// It takes ten seconds, because a shorter bound cannot be configured.
    @Test func theRelayNamesOneThatTalksTooLong() throws {
        let relay = try relay(" talk-time=10")
        #expect(!status().contains("has the floor") && status(["--json"]).contains(#""floor": null"#))
        let alice = try station("Alice", "--floor")
        alice.toggle()
        alice.shows("you have the floor")
        alice.shows("you have talked as long as one may; wait 2 s")
        statusShows("channel family: nobody has the floor\n  member 1 talked too long (1)\n", relay)
        statusShows(#""member": 1, "other_relay": false"#, relay, json: true)
        statusShows(#""overlong": 1"#, relay, json: true)
    }

    /// The partner is ffmpeg, which sends RTP and knows nothing of the floor.
    @Test func aPlainPartnerCountsAsTalkingWhileItIsHeard() throws {
        let terminal = Terminal()
        let talk = try Program(
            "tenfour", ["talk", "127.0.0.1:9", "-p", "\(port)", "-D", "null", "--floor"], in: folder,
            environment: environment, terminal: terminal)
        let partner = try Program(
            "ffmpeg",
            [
                "-loglevel", "error", "-re", "-f", "lavfi", "-i", "sine=440:r=48000", "-c:a", "libopus",
                "-payload_type",
                "111", "-f", "rtp", "rtp://127.0.0.1:\(port)",
            ], in: folder)
        #expect(talk.says("hearing"), "\(terminal.shown)\(partner.errors)")
        terminal.type(" ")
        #expect(talk.says("you cannot talk now: "), "\(terminal.shown)")
        #expect(terminal.statuses.last?.contains("ON AIR") != true)
        partner.send(SIGKILL)
        partner.wait()
        usleep(600_000)
        terminal.type(" ")
        #expect(
            talk.wait(.seconds(10)) { terminal.statuses.last?.contains("ON AIR") == true }, "\(terminal.shown)")
    }

    @Test func whenTheRelayIsGoneItIsToldWithinTwoSecondsAndTheMicrophoneStays() throws {
        let relay = try relay()
        let runtime = RuntimeFolder()
        let alice = try Station(
            "Alice", [], in: folder, environment.merging(["XDG_RUNTIME_DIR": runtime.path]) { $1 })
        let bob = try station("Bob")
        func microphone() -> String {
            (try? tenfour(["ptt", "status"], environment: ["XDG_RUNTIME_DIR": runtime.path]).output) ?? ""
        }
        alice.toggle()
        #expect(alice.program.wait(.seconds(20)) { alice.terminal.statuses.last?.contains("ON AIR") == true })
        bob.shows("Alice")
        relay.send(SIGKILL)
        let start = ContinuousClock.now
        #expect(relay.wait() == .signal(SIGKILL))
        alice.shows("any more; trying again until somebody answers")
        let time = ContinuousClock.now - start
        #expect(time < .seconds(2), "\(time)")
        #expect(microphone().hasPrefix("open"))
        bob.shows("any more; trying again until somebody answers")
        usleep(1_000_000)
        #expect(microphone().hasPrefix("open"), "\(alice.terminal.shown)")
        print("the end of the relay was told after \(time)")
    }
}
