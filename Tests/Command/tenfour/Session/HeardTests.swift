import Foundation
import TestSupport
import Testing

/// Two stations in namespaces of their own, and a router with a firewall between them: the talker reads whether it is heard,
/// and the listener whether audio is missing. Bob's microphone is closed.
@Suite(.onItsOwnThread) struct HeardTests {
    /// What the router drops, and what the two read.
    struct Obstacle: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var rule: String
        var talkerReads: String
        var listenerReads: String?
    }

    private static let missing = "Alice is on the air, but nothing arrives from there"
    private static let obstacles = [
        Obstacle(
            testDescription: "nothing reaches the listener", rule: "ip saddr 10.9.1.1",
            talkerReads: "Bob has heard nothing from you for ", listenerReads: missing),
        Obstacle(
            testDescription: "nothing reaches the talker", rule: "ip saddr 10.9.2.1",
            talkerReads: "Bob has not answered for ", listenerReads: nil),
        Obstacle(
            testDescription: "the link is down", rule: "ip ttl >= 0", talkerReads: "Bob has not answered for ",
            listenerReads: missing),
        Obstacle(
            testDescription: "large packets are dropped", rule: "ip length > 290",
            talkerReads: "Bob has heard nothing from you for ", listenerReads: missing),
    ]

    @Test(.needsRoot, arguments: obstacles) func bothReadWhatTheFirewallDrops(_ obstacle: Obstacle) throws {
        let folder = Folder()
        try folder.writeTone()
        try NetworkNamespace.run {
            let stations = try Stations(in: folder)
            let (alice, bob) = (stations.alice, stations.bob)
            // Without the hosts their namespaces end.
            defer { withExtendedLifetime(stations) {} }
            try #require(bob.says("is Alice", within: .seconds(60)), "\(bob.errors)")
            try #require(alice.says("Bob", within: .seconds(60)), "\(alice.errors)")
            try RoutedHosts.firewall("add rule ip filter forward \(obstacle.rule) drop")
            #expect(alice.says(obstacle.talkerReads, within: .seconds(60)), "\(alice.errors)")
            if let words = obstacle.listenerReads {
                #expect(bob.says(words, within: .seconds(60)), "\(bob.errors)")
            }
            try RoutedHosts.firewall("flush chain ip filter forward")
            #expect(alice.says("Bob hears you again", within: .seconds(60)), "\(alice.errors)")
            if obstacle.listenerReads != nil {
                #expect(bob.says("the audio of Alice arrives again", within: .seconds(60)), "\(bob.errors)")
            } else {
                #expect(!bob.errors.contains(Self.missing), "\(bob.errors)")
            }
            RoutedHosts.end([alice, bob])
        }
    }

    /// In a channel the relay is on the router. A firewall before Bob drops large packets, which media is.
    @Test(.needsRoot) func inAChannelTheTalkerReadsWhomNothingReaches() throws {
        let folder = Folder()
        try folder.writeTone()
        let new = try tenfour(["channel", "new", "family", "--relay", "10.9.1.2:5004"], in: folder)
        let lines = new.output.split(separator: "\n").map(String.init)
        folder.write(lines[0], to: "family.link")
        folder.write("bind 10.9.1.2:5004\n" + (lines.first { $0.hasPrefix("channel ") } ?? ""), to: "relay.conf")
        try NetworkNamespace.run {
            let hosts = try ["10.9.1", "10.9.2", "10.9.3"].map { try NetworkHost($0, in: folder) }
            defer { withExtendedLifetime(hosts) {} }
            try RoutedHosts.firewall("add table ip filter")
            try RoutedHosts.firewall("add chain ip filter output { type filter hook output priority 0 ; }")
            let relay = try Program(
                "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
            try #require(relay.says("relaying on"), "\(relay.errors)")
            let listeners = try ["Bob", "Carol"].enumerated().map { index, name in
                try hosts[index + 1].run(
                    "tenfour", "talk", "--link-file", "family.link", "--name", name, "--input", "tone.wav", "-o",
                    "/dev/null")
            }
            let alice = try hosts[0].run(
                "tenfour", "talk", "--link-file", "family.link", "--name", "Alice", "--input", "tone.wav", "--open",
                "-o", "/dev/null", "--frame", "60ms", "--bitrate", "40k", "--report", "alice.json")
            for listener in listeners {
                try #require(listener.says("hearing ", within: .seconds(60)), "\(listener.errors)")
            }
            try #require(alice.says("Bob", within: .seconds(60)), "\(alice.errors)")
            try RoutedHosts.firewall("add rule ip filter output ip daddr 10.9.2.1 ip length > 290 drop")
            let words = "Bob has heard nothing from you for "
            #expect(alice.says(words, within: .seconds(60)), "\(alice.errors)")
            #expect(!alice.errors.contains("Carol has"), "\(alice.errors)")
            try RoutedHosts.firewall("flush chain ip filter output")
            #expect(alice.says("Bob hears you again", within: .seconds(60)), "\(alice.errors)")
            RoutedHosts.end(listeners + [alice, relay])
            let report = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: folder("alice.json"))))
            let whole = try #require((report as? [String: Any])?["whole"] as? [String: Any])
            let sent = try #require(whole["sent"] as? [String: Any])
            #expect((sent["not_heard_ms"] as? Double ?? 0) >= 1_000, "\(sent)")
        }
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

        init(in folder: Folder, dropping rule: String? = nil) throws {
            hosts = try RoutedHosts(in: folder)
            if let rule { try RoutedHosts.firewall("add rule ip filter forward \(rule) drop") }
            bob = try hosts.bob.run(
                "tenfour", "talk", "10.9.1.1", "--plain", "--name", "Bob", "--input", "tone.wav", "-o", "/dev/null")
            alice = try hosts.alice.run(
                "tenfour", "talk", "10.9.2.1", "--plain", "--name", "Alice", "--input", "tone.wav", "--open", "-o",
                "/dev/null", "--frame", "60ms", "--bitrate", "40k")
        }
    }
}
