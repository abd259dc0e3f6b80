import Glibc
import TestSupport
import Testing

/// A channel with an owner, with a real relay: `tenfour channel new --owner`, `add`, `members`, `verify` and `remove`.
@Suite(.onItsOwnThread, .inRealTime) struct OwnedChannelTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    /// The machine of one person, with its own folders for the identity and the secrets.
    private final class Person {
        let home = Folder()
        private let folder: Folder

        init(in folder: Folder) { self.folder = folder }

        deinit { _ = unsafe system("rm -rf '\(home.path)/config' '\(home.path)/state'") }

        var environment: [String: String] {
            ["XDG_CONFIG_HOME": home("config"), "XDG_STATE_HOME": home("state")]
        }

        func run(_ arguments: String...) throws -> (end: Program.End, output: String, errors: String) {
            try tenfour(arguments, in: folder, environment: environment)
        }

        func start(_ arguments: [String], link: String? = nil) throws -> Program {
            var environment = environment
            environment["TENFOUR_LINK"] = link
            return try Program("tenfour", arguments, in: folder, environment: environment)
        }

        func verify(_ name: String, saying answer: String) throws -> (end: Program.End, output: String, errors: String)
        {
            let pipe = Pipe()
            let program = try Program(
                "tenfour", ["channel", "verify", "family", name], in: folder, environment: environment,
                input: .descriptor(pipe.output))
            let line = answer + "\n"
            _ = unsafe write(pipe.input, line, line.utf8.count)
            pipe.closeInput()
            let end = program.wait()
            return (end, program.outputText, program.errors)
        }
    }

    private func configure(_ line: String = "") {
        folder.write(
            "bind 127.0.0.1:\(port)\nrelay-key relay.key\nstate \(folder.path)/state\n\(line)\n", to: "relay.conf")
    }

    private func startRelay() throws -> Program {
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(relay.says("relaying on 127.0.0.1:\(port)"), "\(relay.errors)")
        return relay
    }

    /// Makes the channel, saves the owner's link, and starts the relay.
    private func makeChannel(of anna: Person) throws -> Program {
        configure()
        let key = try tenfour(["relay", "--config", "relay.conf", "--show-key"], in: folder)
        let line = try #require(key.output.split(separator: "\n").first.map(String.init), "\(key.errors)")
        let made = try anna.run(
            "channel", "new", "family", "--relay", "127.0.0.1:\(port)", "--relay-key", line, "--owner", "--save")
        try #require(made.end == .code(0), "\(made.errors)")
        let lines = made.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 3 && lines[0].contains("#relay-"), "\(made.output)")
        #expect(lines[2].firstMatch(of: #/ owner=[a-z2-7]{52}$/#) != nil, "\(lines[2])")
        configure(lines[2])
        return try startRelay()
    }

    private func add(_ name: String, _ person: Person, by owner: Person) throws -> String {
        let line = try person.run("id", "--anonymous").output
        let added = try owner.run("channel", "add", "family", String(line.dropLast()), name)
        try #require(added.end == .code(0), "\(added.errors)")
        return String(added.output.dropLast())
    }

    @Test func aMemberIsAddedHeardAndRemoved() throws {
        defer { _ = unsafe system("rm -rf '\(folder.path)/state'") }
        folder.write(Recording(channels: [Tone.samples(seconds: 4)]).wav(), to: "tone.wav")
        let (anna, ben, cleo) = (Person(in: folder), Person(in: folder), Person(in: folder))
        let relay = try makeChannel(of: anna)
        // Ben is added while the owner's station is in no channel, and Cleo while it is.
        let link = try add("ben", ben, by: anna)
        let station = try anna.start(["listen", "family", "-o", "anna.wav"])
        try #require(station.says("in the channel"), "\(station.errors)")
        #expect(try add("cleo", cleo, by: anna) == link)
        #expect(station.isRunning, "\(station.errors)")
        let listed = try anna.run("channel", "members", "family")
        #expect(listed.output.split(separator: "\n").count == 3, "\(listed.output) \(listed.errors)")
        #expect(listed.output.contains("ben ") && listed.output.contains("owner"), "\(listed.output)")

        let listener = try cleo.start(["listen", "-o", "cleo.wav"], link: link)
        try #require(listener.says("in the channel"), "\(listener.errors)")
        let talker = try ben.start(["send", "--input", "tone.wav"], link: link)
        #expect(talker.wait() == .code(0), "\(talker.errors)")
        #expect(station.says("ben (not verified)"), "\(station.errors)")

        let removed = try anna.run("channel", "remove", "family", "cleo")
        #expect(removed.end == .code(0) && removed.errors.contains("no longer a member"), "\(removed.errors)")
        #expect(listener.wait() == .code(69), "\(listener.errors)")
        #expect(listener.errors.contains("has not added this station, or has removed it"), "\(listener.errors)")
        let again = try cleo.start(["listen", "-o", "/dev/null"], link: link)
        #expect(again.wait() == .code(69), "\(again.errors)")
        station.send(SIGINT)
        #expect(station.wait() == .code(0), "\(station.errors)")
        let tone = try #require(Tone(in: Recording(wav: folder("anna.wav")).channels[0]))
        #expect(tone.duration > 3 && abs(tone.frequency - Tone.telling) < 1, "\(tone)")
        relay.send(SIGTERM)
        #expect(relay.wait() == .code(0), "\(relay.errors)")
    }

    @Test func aKeyIsComparedAndAnotherOneStops() throws {
        defer { _ = unsafe system("rm -rf '\(folder.path)/state'") }
        let (anna, ben, other) = (Person(in: folder), Person(in: folder), Person(in: folder))
        let relay = try makeChannel(of: anna)
        _ = try add("ben", ben, by: anna)
        let refused = try anna.verify("ben", saying: "no")
        #expect(refused.end == .code(69) && refused.errors.contains("is not stored"), "\(refused.errors)")
        let verified = try anna.verify("ben", saying: "yes")
        #expect(verified.end == .code(0), "\(verified.errors)")
        #expect(verified.output.wholeMatch(of: /ben: (\w+ ){3}\w+\nyou: (\w+ ){3}\w+\n/) != nil, "\(verified.output)")
        #expect(try anna.run("channel", "members", "family").output.contains("verified"))
        // The owner gives Ben's name to another key.
        #expect(try anna.run("channel", "remove", "family", "ben").end == .code(0))
        _ = try add("ben", other, by: anna)
        #expect(try anna.run("channel", "members", "family").output.contains("ANOTHER KEY"))
        let changed = try anna.verify("ben", saying: "no")
        #expect(changed.end == .code(69) && changed.errors.contains("WARNING: the key of ben"), "\(changed.errors)")
        relay.send(SIGTERM)
        #expect(relay.wait() == .code(0))
    }

    @Test func mistakesAreToldWithTheirRemedies() throws {
        let anna = Person(in: folder)
        let open = try anna.run("channel", "new", "family", "--relay", "127.0.0.1", "--save")
        #expect(open.end == .code(0))
        let members = try anna.run("channel", "members", "family")
        #expect(members.end == .code(2) && members.errors.contains("is an open channel"), "\(members.errors)")
        let ownerless = try anna.run("channel", "new", "other", "--owner")
        #expect(ownerless.end == .code(2) && ownerless.errors.contains("--relay-key"), "\(ownerless.errors)")
        let line = try anna.run("channel", "add", "family", "id-abcd", "ben")
        #expect(line.end == .code(2), "\(line.errors)")
    }
}
