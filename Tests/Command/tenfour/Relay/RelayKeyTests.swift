import Glibc
import TenfourManagedChannel
import TestSupport
import Testing

/// The relay's own key, and the folder of the members of channels with owners, as an operator meets them.
@Suite(.onItsOwnThread, .inRealTime) struct RelayKeyTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private func run(_ arguments: [String]) throws -> (text: String, errors: String, code: Program.End) {
        let result = try tenfour(arguments, in: folder)
        return (result.output.trimmingNewline, result.errors, result.end)
    }

    private func configure(_ lines: [String]) {
        folder.write((["bind 127.0.0.1:\(port)"] + lines).joined(separator: "\n") + "\n", to: "relay.conf")
    }

    @Test func theKeyIsMadeOnceAndGoesIntoLinks() throws {
        configure(["relay-key relay.key"])
        let key = try run(["relay", "--config", "relay.conf", "--show-key"])
        #expect(key.code == .code(0) && key.text.utf8.count == 52, "\(key)")
        #expect(try run(["relay", "--config", "relay.conf", "--show-key"]).text == key.text)
        var status = stat()
        #expect(unsafe stat(folder("relay.key"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        let made = try run(
            ["channel", "new", "family", "--relay", "127.0.0.1:\(port)", "--relay-key", key.text])
        let lines = made.text.split(separator: "\n").map(String.init)
        #expect(made.code == .code(0) && lines.count == 3 && lines[0].contains("#relay-"), "\(made)")
        configure(["relay-key relay.key", lines.last ?? ""])
        let check = try run(["relay", "--config", "relay.conf", "--check"])
        #expect(check.text.contains("the relay's key: \(key.text)"), "\(check)")
    }

    @Test func errorsOfTheKeyHaveRemedies() throws {
        configure([])
        let none = try run(["relay", "--config", "relay.conf", "--show-key"])
        #expect(none.code != .code(0) && none.errors.contains("add a line relay-key FILE"), "\(none)")
        configure(["relay-key relay.key"])
        folder.write("nonsense\n", to: "relay.key")
        let damaged = try run(["relay", "--config", "relay.conf", "--show-key"])
        #expect(damaged.errors.contains("is not a relay's key") && damaged.errors.contains("restore it from a copy"))
        _ = unsafe chmod(folder("relay.key"), 0o644)
        let open = try run(["relay", "--config", "relay.conf", "--show-key"])
        #expect(open.errors.contains("chmod 600"), "\(open)")
        let alone = try run(["relay", "--show-key"])
        #expect(alone.code != .code(0) && !alone.errors.isEmpty)
        for words in [["--relay", "a", "--relay-key", "abc"], ["--relay-key", String(repeating: "a", count: 52)]] {
            let refused = try run(["channel", "new", "family"] + words)
            #expect(refused.code != .code(0) && refused.errors.contains("relay"), "\(refused)")
        }
    }

    @Test func aRelayMayOnlyPairStations() throws {
        configure(["relay-key relay.key", "pair on", "pair-members 20"])
        let check = try run(["relay", "--config", "relay.conf", "--check"])
        #expect(check.code == .code(0), "\(check)")
        #expect(
            check.text.contains(
                "pairs stations, and forwards the channels that they make: 20 members in all, 400000 bits per second in one"
            ), "\(check)")
        #expect(check.text.contains("the relay's key: relay.key will be made at the start"), "\(check)")
        configure(["pair on"])
        let refused = try run(["relay", "--config", "relay.conf", "--check"])
        #expect(refused.code == .code(78) && refused.errors.contains("add relay-key FILE"), "\(refused)")
    }

    @Test func aChannelWithAnOwnerHasItsFolder() throws {
        let lines = try run(["channel", "new", "family", "--relay", "127.0.0.1:\(port)"]).text.split(separator: "\n")
        let owner = ManagedFamily(memberCount: 0).owner.key.configurationText
        let line = String(try #require(lines.last)) + " owner=\(owner)"
        configure(["relay-key relay.key", "state members", line])
        let check = try run(["relay", "--config", "relay.conf", "--check"])
        #expect(check.text.contains("channel family of the owner \(owner)"), "\(check)")
        #expect(check.text.contains("keeps the members that owners have added in members"), "\(check)")
        #expect(unsafe access(folder("members"), F_OK) != 0, "a check makes nothing")
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(relay.says("relaying on 127.0.0.1:\(port)"), "\(relay.errors)")
        var status = stat()
        #expect(unsafe stat(folder("members"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        relay.send(SIGTERM)
        #expect(relay.wait() == .code(0))
        // Others may read what is in the file.
        folder.write("nonsense", to: "members/family.members")
        _ = unsafe chmod(folder("members/family.members"), 0o644)
        let open = try run(["relay", "--config", "relay.conf"])
        #expect(open.code != .code(0) && open.errors.contains("chmod 600"), "\(open)")
        unsafe unlink(folder("members/family.members"))
        unsafe rmdir(folder("members"))
        // Without a line, systemd's folder is taken.
        configure(["relay-key relay.key", line])
        let given = try tenfour(
            ["relay", "--config", "relay.conf", "--check"], in: folder,
            environment: ["STATE_DIRECTORY": "/srv/a:/srv/b"])
        #expect(given.output.contains("keeps the members that owners have added in /srv/a\n"), "\(given)")
    }
}

extension String {
    fileprivate var trimmingNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}
