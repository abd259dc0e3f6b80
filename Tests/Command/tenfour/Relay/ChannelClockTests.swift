import TestSupport
import Testing

/// A clock in a channel is an hour off, and `--clock right` says that it is right: all read it, and the talker that it is not heard.
@Suite(.onItsOwnThread) struct ChannelClockTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private func run(_ arguments: [String], ahead: Int) throws -> Program {
        try Program(
            "tenfour", arguments, in: folder,
            environment: ["LD_PRELOAD": try StandIn.clock(), "CLOCK_AHEAD": "\(ahead)"])
    }

    private func station(_ name: String, ahead: Int, _ options: [String] = []) throws -> Program {
        let shared = ["--plain", "--link-file", "family.link", "--input", "tone.wav", "-o", "/dev/null"]
        return try run(["talk", "--name", name, "--clock", "right"] + shared + options, ahead: ahead)
    }

    /// Alice talks, and Bob listens. Whether they hear each other depends on their clocks alone. A slow machine makes an hour of 3601 s.
    @Test(arguments: [(3_600, 0, 0), (0, 3_600, 0), (0, 0, -3_600)])
    func aClockThatIsAnHourOffIsRead(alice aliceAhead: Int, bob bobAhead: Int, relay relayAhead: Int) throws {
        try folder.writeTone()
        let new = try tenfour(["channel", "new", "family", "--relay", "127.0.0.1:\(port)"], in: folder)
        let lines = new.output.split(separator: "\n").map(String.init)
        folder.write(lines[0], to: "family.link")
        folder.write("bind 127.0.0.1:\(port)\n" + (lines.first { $0.hasPrefix("channel ") } ?? ""), to: "relay.conf")
        let relay = try run(["relay", "--config", "relay.conf"], ahead: relayAhead)
        try #require(relay.says("relaying on"), "\(relay.errors)")
        let reactions = Reactions("clocks \(aliceAhead), \(bobAhead), \(relayAhead) s ahead")
        for _ in 0..<Reactions.rounds {
            let bob = try station("Bob", ahead: bobAhead)
            try #require(bob.says("nobody else is here"), "\(bob.errors)")
            let alice = try station("Alice", ahead: aliceAhead, ["--open"])
            reactions.start()
            var expected: [Reactions.Line] = []
            for (station, ahead) in [(alice, aliceAhead), (bob, bobAhead)] where ahead != relayAhead {
                let direction = ahead > relayAhead ? "ahead of" : "behind"
                expected.append(.init("\(direction) that of 127.0.0.1:\(port)", of: station, within: .seconds(2)))
            }
            if aliceAhead == bobAhead {
                expected.append(.init(" talks", of: bob, within: .seconds(2)))
            } else {
                let direction = aliceAhead > bobAhead ? "ahead of" : "behind"
                expected.append(.init("\(direction) this one", of: bob, within: .seconds(2)))
                // Half a second is for the start of her program, and for joining.
                expected.append(.init("Bob has heard nothing from you for ", of: alice, within: .seconds(3.5)))
            }
            reactions.expect(expected)
            if aliceAhead != bobAhead {
                #expect(alice.says("check the firewall there, and the clock"), "\(alice.errors)")
            }
            RoutedHosts.end([alice, bob])
        }
        RoutedHosts.end([relay])
    }
}
