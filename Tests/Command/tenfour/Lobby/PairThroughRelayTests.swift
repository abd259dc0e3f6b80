import Glibc
import TestSupport
import Testing

/// `tenfour pair --relay`: two stations in terminals make a channel at a relay.
@Suite(.onItsOwnThread, .inRealTime) struct PairThroughRelayTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    init() { folder.write(longTone, to: "long.wav") }

    private func startRelay(pairs: Bool = true) throws -> Program {
        let line = pairs ? "pair on" : "rtp-in studio=127.0.0.1:\(UDPPort.free())\nrtp-out studio=127.0.0.1:9"
        folder.write("bind 127.0.0.1:\(port)\nrelay-key relay.key\n\(line)\n", to: "relay.conf")
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(relay.says("relaying on 127.0.0.1:\(port)"), "\(relay.errors)")
        return relay
    }

    private func station(_ name: String, _ arguments: String...) throws -> StationInTerminal {
        try StationInTerminal(name, ["--relay", "127.0.0.1:\(port)"] + arguments, command: "pair", in: folder)
    }

    /// The number and the words that a station shows, as they are typed.
    static func shown(by program: Program, in terminal: Terminal) throws -> String {
        #expect(program.says("or type the other station's"), "\(terminal.shown)")
        let text = terminal.shown.firstMatch(of: /say "([0-9]{3} [0-9]{3}), ([a-z]+ [a-z]+ [a-z]+)"/)
        let (_, number, words) = try #require(text).output
        return "\(number) \(words)"
    }

    private func shown(by station: StationInTerminal) throws -> String {
        try Self.shown(by: station.program, in: station.terminal)
    }

    @Test func theNumberAndTheWordsMakeAChannelAtTheRelay() throws {
        let relay = try startRelay()
        let alice = try station("Alice", "--open")
        let secret = try shown(by: alice)
        let large = ([String(secret.prefix(7))] + secret.split(separator: " ").dropFirst(2).map { $0.uppercased() })
            .map { $0.map(String.init).joined(separator: " ") }
        #expect(large.allSatisfy { alice.terminal.lines.contains("    \($0)") }, "\(alice.terminal.lines)")
        let bob = try station("Bob", "--open")
        _ = try shown(by: bob)
        // The first digit begins to type, and q would be typed, too.
        bob.type("4")
        bob.says("number and words: 4_  (Esc goes back)")
        let pairing = PairingInTerminals(
            alice: alice, bob: bob, prompt: "number and words: 4_",
            nonsense: ("\u{15}no number", "type the number that the other station shows"),
            wrong: secret.prefix(7) + " acorn acorn acorn", right: secret, guessesLeft: "one guess is left",
            bobsName: "somebody who knows this number")
        pairing.run()
        let saved = pairing.saved
        #expect(saved[0].hasPrefix("tenfour://127.0.0.1:\(port)/alice#pass-"), "\(saved)")
        #expect(saved[0] == saved[1])
        let words = secret.dropFirst(8)
        #expect(!relay.errors.contains(words) && !relay.errors.contains("alice"), "\(relay.errors)")
        RoutedHosts.end([relay])
    }

    @Test func bothMayBeArguments() throws {
        let relay = try startRelay()
        let alice = try station("Alice")
        let secret = try shown(by: alice)
        let bob = try StationInTerminal(
            "Bob", ["--relay", "127.0.0.1:\(port)"] + secret.split(separator: " ").map(String.init), command: "pair",
            in: folder)
        bob.says("pairing through 127.0.0.1:\(port)")
        for station in [alice, bob] { station.says("the channel is saved") }
        #expect(!bob.terminal.inOneLine.contains("say "))
        for station in [bob, alice] { station.quits() }
        // Each end keeps the name of the relay that its person has written.
        let carol = try station("Carol", "--plain")
        #expect(carol.program.says("say this number and these three words to the other person: "))
        let shown = try self.shown(by: carol)
        // She knows another Dan.
        unsafe mkdir(carol.home("tenfour"), 0o700)
        carol.home.write("another link\n", to: "tenfour/dan.link")
        let dan = try StationInTerminal("Dan", ["--relay", "localhost:\(port)"], command: "pair", in: folder)
        _ = try self.shown(by: dan)
        dan.type("\(shown)\n")
        for station in [carol, dan] { station.says("the channel is saved") }
        carol.says("the channel is now saved as dan-2: tenfour talk dan-2 finds it")
        for station in [dan, carol] { station.quits() }
        #expect(Folder.text(of: carol.home("tenfour/dan.link")) == "another link\n")
        #expect(unsafe access(carol.home("tenfour/pair.link"), F_OK) != 0)
        let links = [(carol, "dan-2", "127.0.0.1"), (dan, "carol", "localhost")].map { station, name, host in
            let link = Folder.text(of: "\(station.home.path)/tenfour/\(name).link")
            #expect(link.hasPrefix("tenfour://\(host):\(port)/carol#pass-"), "\(link)")
            return link.split(separator: "#").last ?? ""
        }
        #expect(links[0] == links[1])
        RoutedHosts.end([relay])
    }

    @Test func aNumberUnderWhichNobodyWaitsIsTypedAnew() throws {
        let relay = try startRelay()
        let bob = try station("Bob", "123456", "acorn", "badger", "cabin")
        bob.says("nobody waits under 123 456 at 127.0.0.1:\(port): ask for the number again")
        bob.says("number and words: _")
        bob.type("\u{1B}")
        #expect(bob.program.wait() == .code(0))
        RoutedHosts.end([relay])
    }

    /// Otherwise it would count for its network until the relay forgets it.
    @Test(arguments: ["q", "\u{4}", "SIGTERM", "SIGINT"])
    func aStationThatEndsGivesItsNumberBackAtOnce(manner: String) throws {
        let relay = try startRelay()
        let alice = try station("Alice")
        let secret = try shown(by: alice)
        switch manner {
        case "SIGTERM": alice.program.send(SIGTERM)
        case "SIGINT": alice.program.send(SIGINT)
        default: alice.type(manner)
        }
        #expect(alice.program.wait() == .code(0), "\(alice.terminal.shown)")
        let bob = try StationInTerminal(
            "Bob", ["--relay", "127.0.0.1:\(port)"] + secret.split(separator: " ").map(String.init), command: "pair",
            in: folder)
        bob.says("nobody waits under \(secret.prefix(7))")
        bob.type("\u{1B}")
        #expect(bob.program.wait() == .code(0))
        RoutedHosts.end([relay])
    }

    /// A host has two runs with one number. Then the other station has another number and other words.
    @Test func afterTwoWrongGuessesBothGoOnWithOtherWords() throws {
        let relay = try startRelay()
        let alice = try station("Alice", "--plain")
        let wrong = try shown(by: alice).prefix(7) + " acorn acorn acorn"
        let bob = try station("Bob")
        _ = try shown(by: bob)
        bob.type("\(wrong)\n")
        bob.says("one guess is left")
        alice.says("has typed other words: one guess is left")
        bob.type("\(wrong)\n")
        alice.says("this station gets another number and other words")
        bob.says("ask for both: one guess is left here")
        alice.says("say this number and these three words to the other person: ")
        let isShown = alice.program.wait(.seconds(20)) {
            alice.terminal.inOneLine.split(separator: "these three words to the other person: ").count == 3
        }
        #expect(isShown, "\(alice.terminal.shown)")
        let told = alice.terminal.inOneLine.split(separator: "these three words to the other person: ").last ?? ""
        let secret = try #require(told.firstMatch(of: /^[0-9]{3} [0-9]{3}, [a-z]+ [a-z]+ [a-z]+/)).output
        bob.type("\(secret)\n")
        for station in [alice, bob] { station.says("the channel is saved") }
        for station in [bob, alice] { station.quits() }
        RoutedHosts.end([relay])
    }

    /// Without them the option would be of no use.
    @Test func theNumberAndTheWordsAreSaidAlsoToOneWhoWantsErrorsOnly() throws {
        let relay = try startRelay()
        let alice = try station("Alice", "-q", "--plain")
        alice.says("say this number and these three words to the other person: ")
        let text = alice.terminal.inOneLine.firstMatch(of: /[0-9]{3} [0-9]{3}, [a-z]+ [a-z]+ [a-z]+/)
        let secret = try #require(text).output
        let bob = try station("Bob", "-q", "123456", "acorn", "badger", "cabin")
        bob.says("nobody waits under 123 456")
        bob.type("\(secret)\n")
        for (station, name) in [(alice, "bob"), (bob, "alice")] {
            let path = "\(station.home.path)/tenfour/\(name).link"
            let isSaved = station.program.wait(.seconds(20)) { unsafe access(path, F_OK) == 0 }
            #expect(isSaved, "\(station.terminal.shown)")
        }
        for station in [bob, alice] { station.quits() }
        RoutedHosts.end([relay])
    }

    /// After a restart of the relay the station has another number, and the words are the same.
    @Test func aRestartOfTheRelayChangesTheNumber() throws {
        var relay = try startRelay()
        let alice = try station("Alice", "--plain")
        let first = try shown(by: alice)
        relay.send(SIGKILL)
        relay.wait()
        relay = try startRelay()
        alice.says("the number has changed, and the words have not: ")
        let second = alice.terminal.inOneLine.split(separator: "the words have not: ").last ?? ""
        #expect(second.prefix(7) != first.prefix(7))
        #expect(second.dropFirst(7).hasPrefix(", \(first.dropFirst(8))"), "\(first) \(second)")
        alice.quits()
        RoutedHosts.end([relay])
    }

    /// The picture has them, however many notices push the first one off the screen.
    @Test func aSmallScreenKeepsTheNumberAndTheWords() throws {
        let relay = try startRelay()
        let alice = try StationInTerminal(
            "Alice", ["--relay", "127.0.0.1:\(port)"], command: "pair", in: folder,
            on: Terminal(columns: 40, rows: 10))
        alice.says("type the other station's")
        let picture = alice.terminal.statuses.suffix(2)
        let (words, rest) = (picture.first ?? "", picture.last ?? "")
        #expect(words.contains(/^say "[0-9]{3} [0-9]{3}, [a-z]+ [a-z]+ [a-z]+",( or)?$/), "\(picture)")
        for count in 1...5 {
            alice.type("1\n")
            let isAsked = alice.program.wait(.seconds(20)) {
                alice.terminal.shown.split(separator: "this one has 1").count == count + 1
            }
            #expect(isAsked, "\(alice.terminal.shown)")
            alice.says("number and words: _  (Esc goes back)")
            alice.type("\u{1B}")
            let isBack = alice.program.wait(.seconds(20)) { alice.terminal.statuses.suffix(2) == [words, rest] }
            #expect(isBack, "\(alice.terminal.statuses.suffix(3))")
        }
        #expect(!alice.terminal.lines.contains { $0.hasPrefix("    ") }, "no large letters")
        alice.quits()
        RoutedHosts.end([relay])
    }

    @Test func aRelayThatIsOfNoUseIsNamed() throws {
        let relay = try startRelay(pairs: false)
        let alice = try station("Alice")
        #expect(alice.program.wait() == .code(69))
        let sentence = "does not pair stations: its operator needs a tenfour that can, and \"pair on\""
        #expect(alice.terminal.inOneLine.contains(sentence))
        #expect(relay.says("message of pairing, which is off (`pair on` in relay.conf allows it)"), "\(relay.errors)")
        RoutedHosts.end([relay])
        let bob = try station("Bob")
        #expect(bob.program.wait() == .code(69))
        #expect(bob.terminal.inOneLine.contains("asking 127.0.0.1:\(port) for a number"))
        #expect(bob.terminal.inOneLine.contains("nothing listens on port \(port) of 127.0.0.1: is the relay running"))
    }
}

/// The same behind two routers that translate addresses and let nothing in that was not asked for.
@Suite(.onItsOwnThread, .needsRoot) struct PairBehindRoutersTests {
    private let folder = Folder()
    /// The address of the relay.
    private static let relay = "198.51.100.1"

    /// A station behind a router of its own.
    private final class Household {
        let router, host: NetworkHost
        let home = Folder()
        private let name: String

        /// `number` makes its networks. `masquerade` says how the router chooses ports.
        init(_ name: String, _ number: Int, masquerade: String, in folder: Folder) throws {
            self.name = name
            router = try NetworkHost("10.9.\(number)", in: folder)
            host = try NetworkHost("192.168.\(number)", behind: router, in: folder)
            try router.set(up: [
                "sysctl -qw net.ipv4.ip_forward=1", "nft add table ip home",
                "nft add chain ip home out { type nat hook postrouting priority 100 ; }",
                "nft add rule ip home out oifname eth0 masquerade \(masquerade)",
                "nft add chain ip home in { type filter hook forward priority 0 ; }",
                "nft add rule ip home in ct state established,related accept",
                "nft add rule ip home in iifname eth0 drop",
            ])
        }

        func start(_ arguments: [String], on terminal: Terminal) throws -> Program {
            try host.run(
                "tenfour", arguments + ["--name", name, "--input", "long.wav", "--open", "-o", "/dev/null"],
                environment: [
                    "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "XDG_CONFIG_HOME": home.path,
                    "XDG_STATE_HOME": home.path, "XDG_RUNTIME_DIR": home.path,
                ], terminal: terminal)
        }
    }

    /// The second kind of router has another port for each destination, and draws it at random.
    @Test(arguments: ["", "fully-random"])
    func twoHouseholdsMakeAChannelThatOutlivesTheRelay(masquerade: String) throws {
        let folder = folder
        folder.write(longTone, to: "long.wav")
        folder.write("bind \(Self.relay):5004\nrelay-key relay.key\npair on\n", to: "relay.conf")
        try NetworkNamespace.run {
            try NetworkNamespace.set(up: ["ip address add \(Self.relay)/32 dev lo"])
            let alice = try Household("Alice", 1, masquerade: masquerade, in: folder)
            let bob = try Household("Bob", 2, masquerade: masquerade, in: folder)
            defer { withExtendedLifetime((alice, bob)) {} }
            let relay = try Self.startRelay(in: folder)
            let terminals = [Terminal(), Terminal()]
            let showing = try alice.start(["pair", "--relay", Self.relay], on: terminals[0])
            let secret = try PairThroughRelayTests.shown(by: showing, in: terminals[0])
            let typing = try bob.start(
                ["pair", "--relay", Self.relay] + secret.split(separator: " ").map(String.init), on: terminals[1])
            try Self.hear([showing, typing], terminals)
            #expect(showing.says("the channel is now saved as bob: tenfour talk bob"), "\(terminals[0].shown)")
            Self.quit([showing, typing], terminals)
            relay.send(SIGKILL)
            relay.wait()
            let again = try Self.startRelay(in: folder)
            let later = [Terminal(), Terminal()]
            let talks = [
                try alice.start(["talk", "bob"], on: later[0]), try bob.start(["talk", "alice"], on: later[1]),
            ]
            try Self.hear(talks, later)
            Self.quit(talks, later)
            RoutedHosts.end([again])
            for (household, name) in [(alice, "bob"), (bob, "alice")] {
                let path = "\(household.home.path)/tenfour/\(name).link"
                let mode = try Program.run("stat", ["-c", "%a", path]).output
                #expect(mode == "600\n")
            }
        }
    }

    private static func startRelay(in folder: Folder) throws -> Program {
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(relay.says("relaying on "), "\(relay.errors)")
        return relay
    }

    private static func hear(_ programs: [Program], _ terminals: [Terminal]) throws {
        for (program, terminal) in zip(programs, terminals) {
            try #require(program.says("in the channel"), "\(terminal.shown)")
        }
        for (program, terminal) in zip(programs, terminals) {
            #expect(program.says("hearing "), "\(terminal.shown)")
        }
    }

    private static func quit(_ programs: [Program], _ terminals: [Terminal]) {
        for (program, terminal) in zip(programs, terminals) {
            terminal.type("q")
            #expect(program.wait() == .code(0), "\(terminal.shown)")
        }
    }
}
