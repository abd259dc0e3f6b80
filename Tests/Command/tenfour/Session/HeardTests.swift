import Foundation
import TestSupport
import Testing

/// Two stations in namespaces of their own, and a router with a firewall between them: the talker reads whether it is heard,
/// and the listener whether audio is missing. Bob's microphone is closed.
@Suite(.onItsOwnThread) struct HeardTests {
    /// An obstacle for packets, and the lines that the two read.
    struct Obstacle: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// Commands that Alice's machine, or else the router, runs.
        var begin: [String]
        var end: [String]
        var isAtTalker = false
        var talkerReads: String
        var listenerReads: String? = HeardTests.missing

        /// A firewall of the router.
        init(_ description: String, rule: String, talkerReads: String, listenerReads: String? = HeardTests.missing) {
            testDescription = description
            begin = ["nft add rule ip filter forward \(rule) drop"]
            end = ["nft flush chain ip filter forward"]
            (self.talkerReads, self.listenerReads) = (talkerReads, listenerReads)
        }

        /// Something on the talker's machine.
        init(_ description: String, begin: [String], end: [String], talkerReads: String) {
            (testDescription, self.begin, self.end, isAtTalker) = (description, begin, end, true)
            self.talkerReads = talkerReads
        }
    }

    private static let missing = "Alice is on the air, but nothing arrives from there"
    private static let obstacles = [
        Obstacle(
            "nothing reaches the listener", rule: "ip saddr 10.9.1.1",
            talkerReads: "Bob has heard nothing from you for "),
        Obstacle(
            "nothing reaches the talker", rule: "ip saddr 10.9.2.1", talkerReads: "Bob has not answered for ",
            listenerReads: nil),
        Obstacle("the link is down", rule: "ip ttl >= 0", talkerReads: "Bob has not answered for "),
        Obstacle(
            "large packets are dropped", rule: "ip length > 290", talkerReads: "Bob has heard nothing from you for "),
        Obstacle(
            "the talker's own firewall drops all", begin: ["nft add rule ip filter output ip daddr 10.9.2.1 drop"],
            end: ["nft flush chain ip filter output"], talkerReads: "Bob has heard nothing from you for "),
        Obstacle(
            "the talker's cable is out", begin: ["ip link set eth0 down"],
            end: ["ip link set eth0 up", "ip route add default via 10.9.1.2"], talkerReads: "Bob has not answered for "),
    ]

    @Test(.needsRoot, arguments: obstacles) func bothReadWhetherTheListenerHears(_ obstacle: Obstacle) throws {
        let folder = Folder()
        try folder.writeTone()
        let reactions = Reactions(obstacle.testDescription)
        for _ in 0..<Reactions.rounds {
            try NetworkNamespace.run { try Self.bothRead(of: obstacle, reactions, in: folder) }
        }
    }

    private static func bothRead(of obstacle: Obstacle, _ reactions: Reactions, in folder: Folder) throws {
        let stations = try Stations(in: folder)
        let (alice, bob) = (stations.alice, stations.bob)
        // Without the hosts their namespaces end.
        defer { withExtendedLifetime(stations) {} }
        try #require(bob.says("is Alice", within: .seconds(60)), "\(bob.errors)")
        try #require(alice.says("Bob", within: .seconds(60)), "\(alice.errors)")
        // The audio may come after the first report.
        try #require(bob.says("Alice talks", within: .seconds(60)), "\(bob.errors)")
        try reactions.change([alice, bob]) { try stations.run(obstacle.begin, isAtTalker: obstacle.isAtTalker) }
        let told = Reactions.Line(obstacle.talkerReads, of: alice, within: .seconds(3))
        let toldAgain = Reactions.Line("Bob hears you again", of: alice, within: .seconds(2))
        if let words = obstacle.listenerReads {
            reactions.expect(told, .init(words, of: bob, within: .seconds(2)))
        } else {
            reactions.expect(told)
        }
        try reactions.change([alice, bob]) { try stations.run(obstacle.end, isAtTalker: obstacle.isAtTalker) }
        if obstacle.listenerReads != nil {
            reactions.expect(toldAgain, .init("the audio of Alice arrives again", of: bob, within: .seconds(2)))
        } else {
            reactions.expect(toldAgain)
            #expect(!bob.errors.contains(Self.missing), "\(bob.errors)")
        }
        RoutedHosts.end([alice, bob])
    }

    /// From the start nothing from Alice passes the router: Bob reads the likeliest cause once, and Alice the direction.
    @Test(.needsRoot) func oneSideHearsNothingFromTheStart() throws {
        let folder = Folder()
        try folder.writeTone()
        try NetworkNamespace.run {
            let stations = try Stations(in: folder, dropping: "ip saddr 10.9.1.1")
            let (alice, bob) = (stations.alice, stations.bob)
            defer { withExtendedLifetime(stations) {} }
            let hint = "nothing has arrived from 10.9.1.1:5004 for 10 s: probably a firewall there drops UDP port 5004"
            #expect(bob.says(hint, within: .seconds(60)), "\(bob.errors)")
            #expect(alice.says("only the direction to Bob fails", within: .seconds(60)), "\(alice.errors)")
            RoutedHosts.end([alice, bob])
            #expect(bob.errors.components(separatedBy: "nothing has arrived").count == 2, "\(bob.errors)")
            #expect(!alice.errors.contains("nothing has arrived"), "\(alice.errors)")
        }
    }

    /// Alice sends packets of 60 ms, which are larger than any report. Both write what they hear into nothing.
    private struct Stations {
        let alice, bob: Program
        private let hosts: RoutedHosts

        /// Runs commands on Alice's machine, or on the router.
        func run(_ commands: [String], isAtTalker: Bool) throws {
            if isAtTalker { try hosts.alice.set(up: commands) } else { try NetworkNamespace.set(up: commands) }
        }

        init(in folder: Folder, dropping rule: String? = nil) throws {
            hosts = try RoutedHosts(in: folder)
            try hosts.alice.set(up: [
                "nft add table ip filter", "nft add chain ip filter output { type filter hook output priority 0 ; }",
            ])
            if let rule { try RoutedHosts.firewall("add rule ip filter forward \(rule) drop") }
            bob = try hosts.bob.run(
                "tenfour", "talk", "10.9.1.1", "--plain", "--name", "Bob", "--input", "tone.wav", "-o", "/dev/null")
            alice = try hosts.alice.run(
                "tenfour", "talk", "10.9.2.1", "--plain", "--name", "Alice", "--input", "tone.wav", "--open", "-o",
                "/dev/null", "--frame", "60ms", "--bitrate", "40k")
        }
    }
}
