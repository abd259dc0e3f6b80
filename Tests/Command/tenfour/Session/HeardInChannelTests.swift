import Foundation
import TenfourSeededRandom
import TestSupport
import Testing

/// Members of a channel in namespaces of their own, and the relay on the router between them.
@Suite(.onItsOwnThread) struct HeardInChannelTests {
    /// The members who listen to Alice. She is at 10.9.1.1, and they are at 10.9.2.1, 10.9.3.1 and so on.
    private static let listeners =
        ["Bob", "Carol"] + (Reactions.isLong ? ["Dave", "Eve", "Frank", "Grace", "Heidi"] : [])
    private var randomness = SeededRandom(seed: 1)

    /// A firewall before one of the listeners drops large packets, which media is.
    @Test(.needsRoot) mutating func theTalkerReadsWhomNothingReaches() throws {
        let folder = Folder()
        try folder.writeTone()
        let new = try tenfour(["channel", "new", "family", "--relay", "10.9.1.2:5004"], in: folder)
        let lines = new.output.split(separator: "\n").map(String.init)
        folder.write(lines[0], to: "family.link")
        folder.write("bind 10.9.1.2:5004\n" + (lines.first { $0.hasPrefix("channel ") } ?? ""), to: "relay.conf")
        let reactions = Reactions("in a channel")
        for _ in 0..<Reactions.rounds {
            let hindered = Int.random(in: 0..<Self.listeners.count, using: &randomness)
            try NetworkNamespace.run { try Self.talk(pastOneWhoIsHindered: hindered, reactions, in: folder) }
        }
    }

    private static func talk(
        pastOneWhoIsHindered hindered: Int, _ reactions: Reactions, in folder: Folder
    ) throws {
        let hosts = try (0...listeners.count).map { try NetworkHost("10.9.\($0 + 1)", in: folder) }
        defer { withExtendedLifetime(hosts) {} }
        try RoutedHosts.firewall("add table ip filter")
        try RoutedHosts.firewall("add chain ip filter output { type filter hook output priority 0 ; }")
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(relay.says("relaying on"), "\(relay.errors)")
        let stations = try Self.listeners.enumerated().map { index, name in
            try hosts[index + 1].run(
                "tenfour", "talk", "--link-file", "family.link", "--name", name, "--input", "tone.wav", "-o",
                "/dev/null")
        }
        let alice = try hosts[0].run(
            "tenfour", "talk", "--link-file", "family.link", "--name", "Alice", "--input", "tone.wav", "--open",
            "-o", "/dev/null", "--frame", "60ms", "--bitrate", "40k", "--report", "alice.json")
        for station in stations {
            try #require(station.says("hearing ", within: .seconds(60)), "\(station.errors)")
        }
        // A line names three members at most. Of more, alice learns the names before the change, which comes later.
        for name in listeners where listeners.count <= 3 { try #require(alice.says(name), "\(alice.errors)") }
        let (name, listener) = (listeners[hindered], stations[hindered])
        try reactions.change([alice] + stations) {
            try RoutedHosts.firewall(
                "add rule ip filter output ip daddr 10.9.\(hindered + 2).1 ip length > 290 drop")
        }
        reactions.expect(
            .init("\(name) has heard nothing from you for ", of: alice, within: .seconds(3)),
            .init("Alice is on the air, but nothing arrives from there", of: listener, within: .seconds(2)))
        try reactions.change([alice] + stations) { try RoutedHosts.firewall("flush chain ip filter output") }
        reactions.expect(
            .init("\(name) hears you again", of: alice, within: .seconds(2)),
            .init("the audio of Alice arrives again", of: listener, within: .seconds(2)))
        for other in listeners where other != name {
            #expect(!alice.errors.contains("\(other) has"), "\(alice.errors)")
        }
        RoutedHosts.end([alice] + stations + [relay])
        let report = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: folder("alice.json"))))
        let whole = try #require((report as? [String: Any])?["whole"] as? [String: Any])
        let sent = try #require(whole["sent"] as? [String: Any])
        #expect((sent["not_heard_ms"] as? Double ?? 0) >= 1_000, "\(sent)")
    }
}
