import Foundation
import TestSupport
import Testing

/// A relay that is killed and started again, and one that stands still: both stations of a channel read it, and that it is back.
@Suite(.onItsOwnThread) struct RelayReturnTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private func relay() throws -> Program {
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(relay.says("relaying on 127.0.0.1:\(port)"), "\(relay.errors)")
        return relay
    }

    private func station(_ name: String, _ link: String, _ options: [String] = []) throws -> Program {
        try Program(
            "tenfour", ["talk", "--plain", "--name", name, "--input", "tone.wav", "-o", "/dev/null"] + options,
            in: folder, environment: ["TENFOUR_LINK": link])
    }

    @Test(arguments: [false, true]) func bothReadThatTheRelayIsGoneAndThatItIsBack(isKilled: Bool) throws {
        try folder.writeTone()
        let new = try tenfour(["channel", "new", "family", "--relay", "127.0.0.1:\(port)"]).output
        let lines = new.split(separator: "\n").map(String.init)
        try #require(lines.count == 3)
        folder.write("bind 127.0.0.1:\(port)\n\(lines[2])\n", to: "relay.conf")
        let reactions = Reactions(isKilled ? "the relay is killed" : "the relay is stopped")
        for _ in 0..<Reactions.rounds { try bothRead(link: lines[0], isKilled: isKilled, reactions) }
    }

    private func bothRead(link: String, isKilled: Bool, _ reactions: Reactions) throws {
        var relay = try relay()
        let bob = try station("Bob", link)
        try #require(bob.says("in the channel"), "\(bob.errors)")
        let alice = try station("Alice", link, ["--open"])
        try #require(bob.says("Alice is here"), "\(bob.errors)")
        try #require(bob.says(" talks"), "\(bob.errors)")

        reactions.change([alice, bob]) {
            relay.send(isKilled ? SIGKILL : SIGSTOP)
            if isKilled { relay.wait() }
        }
        let gone = "nobody answers at 127.0.0.1:\(port) any more; trying again until somebody answers"
        reactions.expect(
            .init(gone, of: alice, within: .seconds(3)), .init(gone, of: bob, within: .seconds(3)),
            // Otherwise her transmission goes on where it was, and bob need not say that she talks.
            .init(" has stopped", of: bob, within: .seconds(3)))
        try reactions.change([alice, bob]) {
            if isKilled { relay = try self.relay() } else { relay.send(SIGCONT) }
        }
        reactions.expect(
            .init("in the channel", of: alice, within: .seconds(2)),
            .init("in the channel", of: bob, within: .seconds(2)), .init(" talks", of: bob, within: .seconds(2)))
        RoutedHosts.end([alice, bob, relay])
    }
}
