import Foundation
import TestSupport
import Testing

/// Alice talks, and Bob, whose microphone is closed, does not hear it for a reason that is not the network: both read which.
@Suite(.onItsOwnThread) struct UnheardTests {
    private static let otherKey =
        "received packets cannot be decrypted: the sender uses another key, or does not encrypt"
    private static let quiet = ["--plain", "--input", "tone.wav"]
    private let folder = Folder()

    /// Runs `body` with Alice, who talks to `remote`, and Bob.
    private func talk(
        alice options: [String] = [], to remote: String = "10.9.2.1", bob bobsOptions: [String] = ["-o", "/dev/null"],
        from bobsRemote: String = "10.9.1.1", terminal: Terminal? = nil, dropping rule: String? = nil,
        _ body: @escaping @Sendable (_ alice: Program, _ bob: Program) throws -> Void
    ) throws {
        let folder = folder
        try folder.writeTone()
        let box = Unchecked(value: terminal)
        try NetworkNamespace.run {
            let hosts = try RoutedHosts(in: folder)
            defer { withExtendedLifetime(hosts) {} }
            if let rule { try RoutedHosts.firewall("add rule ip filter forward \(rule) drop") }
            let bob = try hosts.bob.run(
                "tenfour", ["talk", bobsRemote, "--name", "Bob"] + Self.quiet + bobsOptions, terminal: box.value)
            let alice = try hosts.alice.run(
                "tenfour", ["talk", remote, "--name", "Alice", "--open", "-o", "/dev/null"] + Self.quiet + options)
            try body(alice, bob)
        }
    }

    // Unchecked, because only the thread of the namespace uses the terminal while it runs.
    private struct Unchecked: @unchecked Sendable { let value: Terminal? }

    @Test(.needsRoot, .needsLabcard) func theListenersCardIsGoneAndComesBack() throws {
        let wire = "unheard-ear"
        let lost = (ProcessInfo.processInfo.environment["LABCARD_DIR"] ?? "/dev/shm") + "/\(wire).unplugged"
        try talk(bob: ["-D", "labcard:\(wire)"]) { alice, bob in
            try #require(bob.says("is Alice") && alice.says("is Bob"), "\(alice.errors)\(bob.errors)")
            try Data().write(to: URL(fileURLWithPath: lost))
            defer { try? FileManager.default.removeItem(atPath: lost) }
            #expect(alice.says("Bob receives you, but plays nothing: it has no output, or its sound card is gone"))
            #expect(bob.says("the sound card is gone: you hear nothing until it is back"), "\(bob.errors)")
            try FileManager.default.removeItem(atPath: lost)
            #expect(bob.says("the sound card is back: you hear again"), "\(bob.errors)")
            #expect(alice.says("Bob hears you again"), "\(alice.errors)")
            // The time without a card counts as missing audio no longer.
            let returned = alice.errors.components(separatedBy: "plays nothing").last ?? ""
            #expect(!returned.contains("hears you badly"), "\(alice.errors)")
            RoutedHosts.end([alice, bob])
        }
    }

    @Test(.needsRoot) func theListenersSpeakerIsMuted() throws {
        let terminal = Terminal()
        let keys = Unchecked(value: terminal)
        try talk(terminal: terminal) { alice, bob in
            try #require(bob.says("is Alice") && alice.says("is Bob"), "\(alice.errors)")
            keys.value?.type("m")
            #expect(bob.says("the speaker is muted"))
            #expect(alice.says("Bob receives you, but the speaker there is muted"), "\(alice.errors)")
            keys.value?.type("m")
            #expect(alice.says("Bob hears you again"), "\(alice.errors)")
            keys.value?.type("q")
            #expect(bob.wait() == .code(0))
            RoutedHosts.end([alice])
        }
    }

    /// Nobody receives at port 5006 of Bob's machine, which says so.
    @Test(.needsRoot) func theWrongPortRefuses() throws {
        try talk(to: "10.9.2.1:5006") { alice, bob in
            #expect(alice.says("10.9.2.1:5006 refuses your packets: no program receives there"), "\(alice.errors)")
            // Reports of Bob's program from its own port change nothing, and are no second cause.
            #expect(alice.says("10.9.2.1:5004 is Bob"), "\(alice.errors)")
            #expect(bob.says("nothing has arrived from 10.9.1.1:5004 for 10 s"), "\(bob.errors)")
            #expect(alice.errors.components(separatedBy: "refuses your packets").count == 2, "\(alice.errors)")
            RoutedHosts.end([alice, bob])
        }
    }

    @Test(.needsRoot) func theWrongPortIsDropped() throws {
        try talk(to: "10.9.2.1:5006", dropping: "udp dport 5006") { alice, bob in
            #expect(alice.says("Bob has heard nothing from you for "), "\(alice.errors)")
            #expect(alice.errors.contains("check the port and the firewall there"), "\(alice.errors)")
            RoutedHosts.end([alice, bob])
        }
    }

    /// Bob's program ends without a word, so that his machine refuses what comes.
    @Test(.needsRoot) func theProgramThereIsKilled() throws {
        try talk(bob: ["-o", "/dev/null"]) { alice, bob in
            try #require(bob.says("is Alice") && alice.says("is Bob"), "\(alice.errors)\(bob.errors)")
            bob.send(SIGKILL)
            #expect(alice.says("10.9.2.1:5004 refuses your packets: no program receives there"), "\(alice.errors)")
            RoutedHosts.end([alice])
        }
    }

    @Test(.needsRoot) func theKeysDiffer() throws {
        let keys = (0..<2).map { number in Data((0..<30).map { UInt8($0 + number) }).base64EncodedString() }
        try talk(
            alice: ["--srtp-key", keys[0]], to: "srtp://10.9.2.1", bob: ["-o", "/dev/null", "--srtp-key", keys[1]],
            from: "srtp://10.9.1.1"
        ) { alice, bob in
            #expect(bob.says(Self.otherKey, within: .seconds(60)), "\(bob.errors)")
            // Before the hint that nobody is there, which comes after ten seconds.
            let start = ContinuousClock.now
            #expect(alice.says(Self.otherKey, within: .seconds(60)), "\(alice.errors)")
            print("the talker read of the other key \(ContinuousClock.now - start) after the listener")
            for station in [alice, bob] {
                #expect(station.errors.components(separatedBy: Self.otherKey).count == 2, "\(station.errors)")
            }
            RoutedHosts.end([alice, bob])
        }
    }
}
