import Foundation
import TestSupport
import Testing

/// Alice talks, and Bob, whose microphone is closed, does not hear it for a reason that is not the network: both read which.
@Suite(.onItsOwnThread) struct UnheardTests {
    private static let otherKey =
        "received packets cannot be decrypted: the sender uses another key, or does not encrypt"
    private static let noOutput = "Bob receives you, but plays nothing: it has no output, or its sound card is gone"
    private static let quiet = ["--plain", "--input", "tone.wav"]
    private let folder = Folder()

    private static func refusal(of port: Int) -> String {
        "10.9.2.1:\(port) refuses your packets: no program receives there"
    }

    /// Runs `body` with Alice, who talks to `remote`, and Bob, once for each round.
    private func talk(
        _ reactions: Reactions, alice options: [String] = [], to remote: String = "10.9.2.1",
        bob bobsOptions: [String] = ["-o", "/dev/null"], from bobsRemote: String = "10.9.1.1",
        hasTerminal: Bool = false, dropping rule: String? = nil,
        _ body: @escaping @Sendable (_ alice: Program, _ bob: Program, _ terminal: Terminal?) throws -> Void
    ) throws {
        let folder = folder
        try folder.writeTone()
        for _ in 0..<Reactions.rounds {
            try NetworkNamespace.run {
                let hosts = try RoutedHosts(in: folder)
                defer { withExtendedLifetime(hosts) {} }
                if let rule { try RoutedHosts.firewall("add rule ip filter forward \(rule) drop") }
                let terminal = hasTerminal ? Terminal() : nil
                let bob = try hosts.bob.run(
                    "tenfour", ["talk", bobsRemote, "--name", "Bob"] + Self.quiet + bobsOptions, terminal: terminal)
                let alice = try hosts.alice.run(
                    "tenfour", ["talk", remote, "--name", "Alice", "--open", "-o", "/dev/null"] + Self.quiet + options)
                reactions.start()
                try body(alice, bob, terminal)
            }
        }
    }

    @Test(.needsRoot, .needsLabcard) func theListenersCardIsGoneAndComesBack() throws {
        let wire = "unheard-ear"
        let lost = (ProcessInfo.processInfo.environment["LABCARD_DIR"] ?? "/dev/shm") + "/\(wire).unplugged"
        let reactions = Reactions("the listener's card is gone")
        try talk(reactions, bob: ["-D", "labcard:\(wire)"]) { alice, bob, _ in
            try #require(bob.says("is Alice") && alice.says("is Bob"), "\(alice.errors)\(bob.errors)")
            defer { try? FileManager.default.removeItem(atPath: lost) }
            try reactions.change([alice, bob]) { try Data().write(to: URL(fileURLWithPath: lost)) }
            reactions.expect(
                .init(Self.noOutput, of: alice, within: .seconds(3)),
                .init("the sound card is gone: you hear nothing until it is back", of: bob, within: .seconds(2)))
            try reactions.change([alice, bob]) { try FileManager.default.removeItem(atPath: lost) }
            reactions.expect(
                .init("the sound card is back: you hear again", of: bob, within: .seconds(1)),
                .init("Bob hears you again", of: alice, within: .seconds(2)))
            // The time without a card counts as missing audio no longer.
            let returned = alice.errors.components(separatedBy: "plays nothing").last ?? ""
            #expect(!returned.contains("hears you badly"), "\(alice.errors)")
            RoutedHosts.end([alice, bob])
        }
    }

    @Test(.needsRoot) func theListenersSpeakerIsMuted() throws {
        let reactions = Reactions("the listener's speaker is muted")
        try talk(reactions, hasTerminal: true) { alice, bob, terminal in
            try #require(bob.says("is Alice") && alice.says("is Bob"), "\(alice.errors)")
            reactions.change([alice]) { terminal?.type("m") }
            #expect(bob.says("the speaker is muted"))
            reactions.expect(
                .init("Bob receives you, but the speaker there is muted", of: alice, within: .seconds(3)))
            reactions.change([alice]) { terminal?.type("m") }
            reactions.expect(.init("Bob hears you again", of: alice, within: .seconds(2)))
            terminal?.type("q")
            #expect(bob.wait() == .code(0))
            RoutedHosts.end([alice])
        }
    }

    /// Nobody receives at port 5006 of Bob's machine, which says so.
    @Test(.needsRoot) func theWrongPortRefuses() throws {
        let reactions = Reactions("the wrong port refuses")
        try talk(reactions, to: "10.9.2.1:5006") { alice, bob, _ in
            reactions.expect(.init(Self.refusal(of: 5006), of: alice, within: .seconds(3)))
            // Reports of Bob's program from its own port change nothing, and are no second cause.
            #expect(alice.says("10.9.2.1:5004 is Bob"), "\(alice.errors)")
            #expect(bob.says("nothing has arrived from 10.9.1.1:5004 for 10 s"), "\(bob.errors)")
            #expect(alice.errors.components(separatedBy: "refuses your packets").count == 2, "\(alice.errors)")
            RoutedHosts.end([alice, bob])
        }
    }

    @Test(.needsRoot) func theWrongPortIsDropped() throws {
        let reactions = Reactions("the wrong port is dropped")
        try talk(reactions, to: "10.9.2.1:5006", dropping: "udp dport 5006") { alice, bob, _ in
            // Half a second is for the start of her program.
            reactions.expect(.init("Bob has heard nothing from you for ", of: alice, within: .seconds(3.5)))
            #expect(alice.errors.contains("check the port and the firewall there"), "\(alice.errors)")
            RoutedHosts.end([alice, bob])
        }
    }

    /// Bob's program ends without a word, so that his machine refuses what comes.
    @Test(.needsRoot) func theProgramThereIsKilled() throws {
        let reactions = Reactions("the program there is killed")
        try talk(reactions) { alice, bob, _ in
            try #require(bob.says("is Alice") && alice.says("is Bob"), "\(alice.errors)\(bob.errors)")
            reactions.change([alice]) { bob.send(SIGKILL) }
            reactions.expect(.init(Self.refusal(of: 5004), of: alice, within: .seconds(3)))
            RoutedHosts.end([alice])
        }
    }

    @Test(.needsRoot) func theKeysDiffer() throws {
        let keys = (0..<2).map { number in Data((0..<30).map { UInt8($0 + number) }).base64EncodedString() }
        let reactions = Reactions("the keys differ")
        try talk(
            reactions, alice: ["--srtp-key", keys[0]], to: "srtp://10.9.2.1",
            bob: ["-o", "/dev/null", "--srtp-key", keys[1]], from: "srtp://10.9.1.1"
        ) { alice, bob, _ in
            // Before the hint that nobody is there, which comes after ten seconds.
            reactions.expect(
                .init(Self.otherKey, of: bob, within: .seconds(2)),
                .init(Self.otherKey, of: alice, within: .seconds(3)))
            for station in [alice, bob] {
                #expect(station.errors.components(separatedBy: Self.otherKey).count == 2, "\(station.errors)")
            }
            RoutedHosts.end([alice, bob])
        }
    }
}
