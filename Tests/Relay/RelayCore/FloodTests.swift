import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// Floods of failed proofs and of NACKs that would use all of a relay's time, and newcomers that join meanwhile.
struct FloodTests {
    private let family = ChannelKeys.drawn("family")

    /// Returns a host of one IPv6 site. Each host has a /64 of its own.
    private func host(_ number: Int, of site: UInt64 = 0x2001_0DB8_0001_0000) -> Endpoint {
        Endpoint(.v6(high: site + UInt64(number), low: 1, scope: 0), port: 40_000)
    }

    /// Returns JOINs with valid cookies and wrong proofs.
    private func wrongJoins(_ room: RelayHarness, from hosts: [Endpoint]) -> [(bytes: [UInt8], sender: Endpoint)] {
        hosts.map { endpoint in
            let attacker = SimulatedMember(family, .listen, at: endpoint)
            attacker.helloAndCookie(room)
            return (attacker.joinDatagram.dropLast() + [attacker.joinDatagram[127] ^ 1], endpoint)
        }
    }

    /// Sends all JOINs over and over, `perMillisecond` each millisecond, until `isOver`. Returns the duration, at
    /// most 5 s.
    private func flood(
        _ room: RelayHarness, _ joins: [(bytes: [UInt8], sender: Endpoint)], perMillisecond: Int = 40,
        until isOver: () -> Bool
    ) -> Duration {
        let start = room.now
        var next = 0
        while room.now - start < .seconds(5), !isOver() {
            for _ in 0..<perMillisecond {
                room.receive(joins[next % joins.count].bytes, from: joins[next % joins.count].sender)
                next += 1
            }
            room.run(.milliseconds(1))
            for join in joins { room.inbox[join.sender] = nil }
        }
        return room.now - start
    }

    private func isWelcomed(_ room: RelayHarness, _ member: SimulatedMember) -> Bool {
        room.inbox[member.endpoint]?.contains { $0.count == 105 && $0[2] == 4 } ?? false
    }

    @Test func failedProofsTakeATenthOfTheTime() {
        let room = RelayHarness([family], limits: .wide)
        room.relay.failedProofs(take: .microseconds(100))
        let joins = wrongJoins(room, from: (0..<400).map { host($0) })
        _ = flood(room, joins, perMillisecond: 8) { room.now >= .start + .seconds(2) }
        // A thousand proofs a second, and a saved burst of fifty.
        let proofs = room.relay.status.discards[.unproved]
        #expect((1_900...2_060).contains(proofs), "\(proofs)")
        #expect(room.relay.status.discards[.tooManyFailures] > 10_000)
    }

    @Test func aNewcomerFromElsewhereIsInWhileASiteFloods() {
        let room = RelayHarness([family], limits: .wide)
        room.relay.failedProofs(take: .microseconds(100))
        let joins = wrongJoins(room, from: (0..<400).map { host($0) })
        _ = flood(room, joins) { room.now >= .start + .milliseconds(500) }
        for newcomer in [
            SimulatedMember(family, .listen, at: .host(1)),
            SimulatedMember(family, .talk, at: host(1, of: 0x2001_0DB8_0002_0000)),
        ] {
            newcomer.helloAndCookie(room)
            room.receive(newcomer.joinDatagram, from: newcomer.endpoint)
            let passed = flood(room, joins) { isWelcomed(room, newcomer) }
            #expect(passed < .milliseconds(100), "\(passed)")
        }
        // An honest member at the flooding site must wait for its turn.
        let neighbour = SimulatedMember(family, .listen, at: host(1_000))
        neighbour.helloAndCookie(room)
        room.run(.seconds(1))
        room.receive(neighbour.joinDatagram, from: neighbour.endpoint)
        #expect(isWelcomed(room, neighbour))
    }

    @Test func networksTakeTurns() {
        let room = RelayHarness([family], limits: .wide)
        room.relay.failedProofs(take: .microseconds(100))
        // The attackers are two hundred networks with ten hosts each.
        let hosts = (0..<2_000).map { Endpoint(.v4(0x0B00_0001 + UInt32($0 % 200) << 8 + UInt32($0 / 200)), port: 9) }
        let joins = wrongJoins(room, from: hosts)
        _ = flood(room, joins) { room.now >= .start + .milliseconds(500) }
        let newcomer = SimulatedMember(family, .listen, at: .host(1))
        newcomer.helloAndCookie(room)
        room.receive(newcomer.joinDatagram, from: newcomer.endpoint)
        let passed = flood(room, joins) { isWelcomed(room, newcomer) }
        #expect(passed < .milliseconds(300), "\(passed)")
    }

    @Test func aJoinThatWaitsTwiceIsProvedOnce() {
        let room = RelayHarness([family], limits: .wide)
        room.relay.failedProofs(take: .microseconds(100))
        _ = flood(room, wrongJoins(room, from: (0..<400).map { host($0) })) { room.now >= .start + .milliseconds(100) }
        let newcomer = SimulatedMember(family, .listen, at: .host(1))
        newcomer.helloAndCookie(room)
        for _ in 0..<4 { #expect(room.receive(newcomer.joinDatagram, from: newcomer.endpoint) == .handled) }
        room.run(.seconds(1))
        #expect(room.take(newcomer.endpoint).count { $0.count == 105 } == 1)
    }

    @Test func expiredProofsAreDropped() {
        let room = RelayHarness([family], limits: .wide)
        room.relay.failedProofs(take: .milliseconds(1))
        let joins = wrongJoins(room, from: (0..<400).map { host($0) } + (0..<300).map { .host($0) })
        _ = flood(room, joins, perMillisecond: 100) { room.now >= .start + .milliseconds(10) }
        let waiting = SimulatedMember(family, .listen, at: .host(900))
        waiting.helloAndCookie(room)
        room.receive(waiting.joinDatagram, from: waiting.endpoint)
        room.now = room.now + .milliseconds(2_001)
        room.relay.timeElapsed(at: room.now)
        room.flush()
        #expect(room.inbox[waiting.endpoint] == nil && room.relay.nextDeadline == nil)
    }

    // MARK: - NACKs

    private func words(_ count: Int, of talker: SimulatedMember) -> GenericNACK {
        GenericNACK(
            sender: SSRC(1), media: talker.ssrc,
            sequenceNumbers: (0..<count).map { SequenceNumber(rawValue: UInt16(truncatingIfNeeded: $0 * 17)) })
    }

    private func ask(_ room: RelayHarness, _ member: SimulatedMember, _ nack: GenericNACK) -> Relay.Reception {
        member.report(room) { nack.write(into: &$0) }
    }

    @Test func aHostAsksForNoMoreThanItsShare() {
        let (room, talker, listener) = RelayHarness.withTalkerAndListener(of: family)
        let greedy = (1...6).map { SimulatedMember(family, .listen, at: .host(50, port: UInt16($0))) }
        for member in greedy { #expect(member.join(room)) }
        let nack = words(300, of: talker)
        var taken = 0
        for _ in 0..<10 { for member in greedy where ask(room, member, nack) == .handled { taken += 1 } }
        #expect(taken == 10_000 / 300)
        #expect(room.relay.status.discards[.tooManyNACKs] == 60 - taken)
        room.run(.seconds(1))
        taken = 0
        for _ in 0..<10 { for member in greedy where ask(room, member, nack) == .handled { taken += 1 } }
        #expect((15...18).contains(taken), "\(taken)")
        let packet = talker.packet()
        room.receive(talker.tagged(packet), from: talker.endpoint)
        _ = room.take(listener.endpoint)
        listener.ask(room, for: [packet], of: talker)
        #expect(room.take(listener.endpoint) == [packet])
    }

    @Test func aSiteDoesNotAskForAllThatIsToBeHad() {
        let (room, talker, listener) = RelayHarness.withTalkerAndListener(of: family)
        let greedy = (0..<20).map { SimulatedMember(family, .listen, at: host($0)) }
        for member in greedy { #expect(member.join(room)) }
        let nack = words(300, of: talker)
        var taken = 0
        for _ in 0..<10 { for member in greedy where ask(room, member, nack) == .handled { taken += 1 } }
        #expect((20_000 / 300...20_400 / 300).contains(taken), "\(taken)")
        let packet = talker.packet()
        room.receive(talker.tagged(packet), from: talker.endpoint)
        _ = room.take(listener.endpoint)
        listener.ask(room, for: [packet], of: talker)
        #expect(room.take(listener.endpoint) == [packet])
    }
}
