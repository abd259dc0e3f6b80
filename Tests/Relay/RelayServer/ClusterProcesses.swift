import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// A nats-server and three relays as processes of their own, at 127.0.0.1 to 127.0.0.3, and members that know all of
/// them.
final class ClusterProcesses {
    let family: ChannelKeys
    private let secret: Secret
    private let folder = Folder()
    private let port = UDPPort.free()
    private var nats: Program?
    private var relays: [Program?] = [nil, nil, nil]
    private(set) var members: [SocketMember] = []
    /// The members that talk: each sends a packet every 20 ms.
    var talkers: [Int] = []
    private var nextPacket = Instant.start

    init() throws {
        var generator = CSPRNG()
        secret = Secret(.talk, using: &generator)
        family = ChannelKeys(name: "family", secret: secret)
        let key = (0..<64).map { _ in "0123456789abcdef".randomElement(using: &generator) ?? "0" }
        folder.write(String(key) + "\n", to: "cluster.key")
        try startNATS()
        for number in relays.indices { try startRelay(number) }
    }

    // MARK: - Processes

    func startNATS() throws {
        nats = try Program("nats-server", ["-a", "127.0.0.1", "-p", "\(port)"])
        try #require(nats?.says("Server is ready") ?? false)
    }

    func startRelay(_ number: Int) throws {
        let talk = try #require(family.talkJoin).configurationText
        let lines = [
            "bind 127.0.0.\(number + 1):\(port)", "status-socket status\(number)",
            "channel family talk=\(talk) listen=\(family.listenJoin.configurationText) floor=on",
            "nats nats://127.0.0.1:\(port)", "cluster-key \(folder("cluster.key"))",
        ]
        folder.write(lines.joined(separator: "\n"), to: "relay\(number).conf")
        _ = unsafe unlink(folder("status\(number)"))
        let relay = try Program("tenfour", ["relay", "--config", "relay\(number).conf"], in: folder)
        relays[number] = relay
        try #require(relay.says("relaying on"), "\(relay.errors)")
    }

    func signalRelay(_ number: Int, _ signal: Int32) { relays[number]?.send(signal) }

    func signalNATS(_ signal: Int32) { nats?.send(signal) }

    /// Ends a relay by SIGKILL and waits until it is gone.
    func killRelay(_ number: Int) {
        relays[number]?.send(SIGKILL)
        relays[number]?.wait()
    }

    func killNATS() {
        nats?.send(SIGKILL)
        nats?.wait()
    }

    func endpoint(_ relay: Int) -> Endpoint { Endpoint(.v4(0x7F00_0001 + UInt32(relay)), port: port) }

    /// Returns the talk link that names the relays in this order.
    func link(orderingRelays order: [Int]) throws -> String {
        let relays = try order.map { try RelayHost(host: "127.0.0.\($0 + 1)", port: port) }
        return try ChannelLink(relays: relays, name: "family", opening: .secret(secret)).text()
    }

    // MARK: - Members

    /// Adds a member whose link names the relays in this order.
    func add(_ role: Role, orderingRelays order: [Int], usesFloor: Bool = false) {
        let number = UInt32(members.count)
        members.append(
            SocketMember(role, of: family, orAt: order.map(endpoint), ssrc: 100 + number, usesFloor: usesFloor))
    }

    /// Runs the members for `duration`, or until `isSo`. Returns whether `isSo` was true in time.
    @discardableResult
    func run(_ duration: Duration, until isSo: () -> Bool = { false }) -> Bool {
        let end = Clocks.now + duration
        while Clocks.now < end {
            let now = Clocks.now
            if nextPacket <= now {
                for talker in talkers { members[talker].speak() }
                nextPacket = max(nextPacket + .milliseconds(20), now - .milliseconds(100))
            }
            for member in members { member.pump() }
            if isSo() { return true }
            usleep(500)
        }
        return false
    }

    /// Waits until every member hears every talker.
    func settle() throws {
        try #require(run(.seconds(20)) { members.allSatisfy(\.isJoined) }, "all members have joined")
        let since = Clocks.now
        try #require(run(.seconds(20)) { everyoneHears(since: since) }, "every member hears every talker")
        run(.milliseconds(300))
    }

    func everyoneHears(since: Instant) -> Bool {
        members.indices.allSatisfy { listener in
            talkers.allSatisfy { $0 == listener || hears(listener, $0, since: since) }
        }
    }

    /// Whether a member has heard a talker since a moment.
    func hears(_ listener: Int, _ talker: Int, since: Instant) -> Bool {
        members[listener].lastHeard[members[talker].ssrc.rawValue].map { $0 >= since } ?? false
    }

    /// The longest time since `start` in which a member has heard nothing of a talker.
    func longestGap(_ listener: Int, _ talker: Int, since start: Instant) -> Duration {
        let ssrc = members[talker].ssrc.rawValue
        let times = members[listener].packets.filter { $0.ssrc == ssrc && $0.at >= start }.map(\.at)
        return zip([start] + times, times + [Clocks.now]).map { $1 - $0 }.max() ?? .zero
    }

    /// The number of packets that a member has heard more than once.
    var repeatedCount: Int {
        members.reduce(0) { count, member in
            let talkers = Dictionary(grouping: member.packets, by: \.ssrc)
            return count + talkers.values.reduce(0) { $0 + $1.count - Set($1.map(\.number)).count }
        }
    }
}
