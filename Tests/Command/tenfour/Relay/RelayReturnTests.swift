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

    /// Waits until a station has said a text this often.
    private func says(_ station: Program, _ text: String, _ count: Int, _ location: SourceLocation = #_sourceLocation) {
        let hasSaid = station.wait(.seconds(60)) { station.errors.components(separatedBy: text).count > count }
        #expect(hasSaid, "\(count) × \(text): \(station.errors)", sourceLocation: location)
    }

    @Test func bothReadThatTheRelayIsGoneAndThatItIsBack() throws {
        try folder.writeTone()
        let new = try tenfour(["channel", "new", "family", "--relay", "127.0.0.1:\(port)"]).output
        let lines = new.split(separator: "\n").map(String.init)
        try #require(lines.count == 3)
        folder.write("bind 127.0.0.1:\(port)\n\(lines[2])\n", to: "relay.conf")
        var relay = try relay()
        let bob = try station("Bob", lines[0])
        try #require(bob.says("in the channel"), "\(bob.errors)")
        let alice = try station("Alice", lines[0], ["--open"])
        says(bob, "Alice is here", 1)
        let gone = "nobody answers at 127.0.0.1:\(port) any more; trying again until somebody answers"

        relay.send(SIGKILL)
        relay.wait()
        for station in [alice, bob] { says(station, gone, 1) }
        says(bob, " has stopped", 1)
        relay = try self.relay()
        for station in [alice, bob] { says(station, "in the channel", 2) }
        says(bob, " talks", 2)

        relay.send(SIGSTOP)
        for station in [alice, bob] { says(station, gone, 2) }
        // Otherwise her transmission goes on where it was, and bob need not say that she talks.
        says(bob, " has stopped", 2)
        relay.send(SIGCONT)
        for station in [alice, bob] { says(station, "in the channel", 3) }
        says(bob, " talks", 3)
        RoutedHosts.end([alice, bob, relay])
    }
}
