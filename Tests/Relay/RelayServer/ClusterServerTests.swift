import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourNATS
import TenfourRelayCluster
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession
import TestSupport
import Testing

/// Three relays that share a real nats-server, with a member at each.
@Suite(.onItsOwnThread)
final class ClusterServerTests {
    private let family: ChannelKeys
    private let key: ClusterKey
    private let nats: NATSServer
    private var relays: [RunningRelay] = []
    private var members: [SocketMember] = []

    init() throws {
        var generator = CSPRNG()
        family = ChannelKeys(name: "family", secret: Secret(.talk, using: &generator))
        key = ClusterKey(using: &generator)
        nats = try NATSServer()
        for number in 0..<3 {
            relays.append(try RunningRelay(configuration()))
            members.append(SocketMember(.talk, of: family, at: relays[number].port, ssrc: UInt32(100 + number)))
        }
        wait("all are present and joined") {
            relays.allSatisfy { $0.server.status.cluster?.relays.relayCount == 2 } && members.allSatisfy(\.isJoined)
        }
        waitUntilHeard(by: 1...2)
    }

    deinit { for relay in relays { relay.stop() } }

    private func configuration() throws -> RelayServerConfiguration {
        var relay = RelayConfiguration()
        relay.channels = [.init(name: "family", talkJoin: try #require(family.talkJoin), listenJoin: family.listenJoin)]
        var configuration = RelayServerConfiguration(bind: .anyLoopbackPort, relay: relay)
        configuration.cluster = ClusterConfiguration(
            key: key, nats: NATSConfiguration(servers: ["nats://127.0.0.1:\(nats.port)"]))
        return configuration
    }

    private func wait(_ what: Comment, until isSo: () -> Bool) {
        let end = Clocks.now + .seconds(60)
        while Clocks.now < end {
            for member in members { member.pump() }
            if isSo() { return }
            usleep(1_000)
        }
        Issue.record(what)
    }

    private func run(_ duration: Duration) {
        let end = Clocks.now + duration
        while Clocks.now < end {
            for member in members { member.pump() }
            usleep(500)
        }
    }

    /// Lets member 0 speak until `listeners` hear its last packet. The relays subscribe to the channel a moment after they know each
    /// other.
    private func waitUntilHeard(by listeners: ClosedRange<Int>) {
        var spoken: Instant?
        wait("member 0 is heard") {
            let last = members[0].lastSpoken
            if last != nil, listeners.allSatisfy({ members[$0].heard.last == last }) { return true }
            if spoken.map({ Clocks.now - $0 > .milliseconds(100) }) ?? true {
                members[0].speak()
                spoken = Clocks.now
            }
            return false
        }
    }

    /// Lets member 0 say `count` packets, and waits until `listeners` have heard them. Returns how many each of the others
    /// has heard.
    private func say(_ count: Int, to listeners: ClosedRange<Int>? = nil) -> [Int] {
        let before = members.map(\.heard.count)
        func heard(by index: Int) -> Int { members[index].heard.count - before[index] }
        for _ in 0..<count {
            members[0].speak()
            run(.milliseconds(20))
        }
        if let listeners { wait("all is heard") { listeners.allSatisfy { heard(by: $0) >= count } } }
        run(.milliseconds(100))
        return members.indices.dropFirst().map(heard(by:))
    }

    @Test func everyMemberHearsEveryPacketOnce() {
        _ = say(5)
        let sent = relays[0].server.status.cluster?.relays.sentCount ?? 0
        #expect(say(50, to: 1...2) == [50, 50])
        for member in members.dropFirst() { #expect(Set(member.heard).count == member.heard.count) }
        run(.milliseconds(1_100))
        // One message for each packet, and a few for presence, state and announcements.
        let messages = (relays[0].server.status.cluster?.relays.sentCount ?? 0) - sent
        #expect((50...80).contains(messages))
    }

    @Test func withoutNATSMembersOfOneRelayHearEachOtherAndItComesBack() throws {
        let neighbour = SocketMember(.listen, of: family, at: relays[0].port, ssrc: 9)
        members.append(neighbour)
        wait("the neighbour has joined") { neighbour.isJoined }
        #expect(say(5, to: 1...3) == [5, 5, 5])
        nats.kill()
        #expect(say(100, to: 3...3)[2] == 100)
        wait("the others are gone") { relays[0].server.status.cluster?.relays.relayCount == 0 }
        try nats.start()
        wait("the others are back") {
            relays.allSatisfy { $0.server.status.cluster?.relays.relayCount == 2 }
        }
        waitUntilHeard(by: 1...3)
        #expect(say(10, to: 1...3) == [10, 10, 10])
    }

    /// The server stands still, or refuses all relays.
    @Test(arguments: ["stands still", "refuses"])
    func aServerThatFailsDelaysNobodyOnOneRelay(because: String) throws {
        let neighbour = SocketMember(.listen, of: family, at: relays[0].port, ssrc: 9)
        members.append(neighbour)
        wait("the neighbour has joined") { neighbour.isJoined }
        _ = say(5)
        if because == "refuses" {
            nats.kill()
            try nats.start(["--user", "relay", "--pass", "secret"])
        } else {
            nats.send(SIGSTOP)
        }
        var delays: [Duration] = []
        for _ in 0..<100 {
            let before = neighbour.heard.count
            let start = Clocks.now
            members[0].speak()
            wait("the neighbour hears it") { neighbour.heard.count > before }
            delays.append(Clocks.now - start)
            run(.milliseconds(5))
        }
        nats.send(SIGCONT)
        // A relay that waits for the server delays each packet; a machine that stalls delays few.
        #expect(delays.sorted()[50] < .milliseconds(100) * sanitizerSlowdown)
    }

    @Test func theRelaysThatRemainGoOn() {
        _ = say(5)
        relays[2].stop()
        wait("it is gone") { relays[0].server.status.cluster?.relays.relayCount == 1 }
        #expect(say(20, to: 1...1)[0] == 20)
    }

    /// Prints the delay that the cluster adds: the time from a member of one relay to a member of another, less the
    /// time to a member of the same relay.
    @Test func theAddedDelayIsShort() {
        let neighbour = SocketMember(.listen, of: family, at: relays[0].port, ssrc: 9)
        members.append(neighbour)
        wait("the neighbour has joined") { neighbour.isJoined }
        _ = say(5)
        var added: [Double] = []
        for _ in 0..<200 {
            let (near, far) = (neighbour.heard.count, members[1].heard.count)
            var times: (near: Instant?, far: Instant?)
            members[0].speak()
            let end = Clocks.now + .seconds(10)
            while Clocks.now < end, times.near == nil || times.far == nil {
                for member in [neighbour, members[1]] { member.pump() }
                if times.near == nil, neighbour.heard.count > near { times.near = Clocks.now }
                if times.far == nil, members[1].heard.count > far { times.far = Clocks.now }
            }
            if let near = times.near, let far = times.far { added.append((far - near) / .milliseconds(1)) }
            run(.milliseconds(5))
        }
        added.sort()
        #expect(added.count > 190)
        print("delay added by the cluster: p50 \(added[added.count / 2]) ms, p99 \(added[added.count * 99 / 100]) ms")
        // On an idle machine the median is below 1 ms.
        #expect(added[added.count / 2] < 10 * Double(sanitizerSlowdown))
    }
}
