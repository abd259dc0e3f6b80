import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

struct JoinAttemptTests {
    private let relay = TinyRelay(Family.talk)

    private func seconds(_ instant: Instant) -> Double { Double(instant.nanoseconds) / 1e9 }

    @Test(arguments: Role.allCases)
    func aMemberJoinsInThreeRoundTripsAndStays(role: Role) {
        let member = Member(0, Family.configuration(role), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 0.07)
        #expect(member.eventsOnly == [.joined(role, seenAt: member.endpoint)])
        #expect(member.events.first?.at == .start + .milliseconds(60))
        #expect(relay.helloCount == 1 && relay.joinCount == 1)
        air.run(seconds: 100)
        #expect(relay.helloCount == 1 && member.events.count == 1)
        // One renewal at the start, and one every ten seconds.
        #expect(relay.renewalCount == 10 || relay.renewalCount == 11)
        #expect(member.isJoined)
    }

    @Test func aRelayThatDoesNotAnswerIsAskedEverMoreSeldom() {
        relay.isDead = true
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 300)
        let hellos = relay.log.map { (at: seconds($0.at), nonce: Array($0.bytes[4...])) }
        #expect(relay.log.allSatisfy { $0.bytes[2] == 1 })
        #expect(Set(hellos.map(\.nonce)).count * 4 == hellos.count)
        for attempt in stride(from: 0, to: 40, by: 4) {
            let times = hellos[attempt..<attempt + 4].map(\.at)
            #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.25) < 1e-6 })
            let pause = hellos[attempt + 4].at - hellos[attempt].at - 1
            let expected = Double(1 << min(attempt / 4, 2))
            #expect((0.5...1.5).contains(pause / expected), "\(attempt): \(pause)")
        }
        // The loss is reported once, not for each attempt.
        #expect(member.eventsOnly == [.lost])
        #expect(member.discards.total == member.discards[.beforeJoined])
    }

    @Test func aWrongSecretIsReportedAfterThreeSecondsAndTriedOn() {
        let member = Member(0, Family.configuration(.talk, keys: Family.stranger), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 2.9)
        #expect(member.events.isEmpty)
        air.run(seconds: 0.2)
        #expect(member.eventsOnly == [.refused(.unproved)])
        let count = relay.joinCount
        air.run(seconds: 60)
        #expect(relay.joinCount > count)
        #expect(member.events.count == 1)
    }

    @Test func aForgedRefusalDoesNotKeepAMemberOut() {
        relay.forgesRefusals = true
        let member = Member(0, Family.configuration(.talk), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 10)
        #expect(member.eventsOnly == [.joined(.talk, seenAt: member.endpoint)])
    }

    /// An attacker that overhears the HELLO answers it first, up to three times. Some JOINs are lost as well.
    @Test(arguments: [1, 3], [0, 1])
    func aFalseCookieThatComesFirstKeepsNobodyOut(count: Int, lostCount: Int) {
        let member = Member(0, Family.configuration(.talk), ssrc: 9)
        let air = Airwaves([member], relay)
        var randomness = SeededRandom(seed: 4)
        var lost = 0
        air.loses = { [unowned air] datagram, _ in
            // Drops the JOIN with the genuine cookie.
            if datagram.starts(with: [99, 1, 3]), air.now >= .start + .milliseconds(20), lost < lostCount {
                lost += 1
                return true
            }
            guard datagram.starts(with: [99, 1, 1]) else { return false }
            for _ in 0..<count {
                let cookie = datagram[4..<20] + (0..<20).map { _ in UInt8.random(in: 0...255, using: &randomness) }
                relay.put([99, 1, 2, 0] + cookie, to: member.endpoint)
            }
            return false
        }
        air.run(seconds: 0.07 + 0.25 * Double(lostCount))
        #expect(member.eventsOnly == [.joined(.talk, seenAt: member.endpoint)] && relay.helloCount == 1)
    }

    @Test(arguments: [Refusal.Reason.full, .limited, .refused, .rekeyed, .stopping, .left])
    func aMemberThatProvedTheKeyGetsTheReasonAndGoesOnTrying(reason: Refusal.Reason) {
        relay.refusal = reason
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 0.05)
        #expect(member.eventsOnly == [.refused(reason)])
        #expect(relay.joinCount == 1)
        // Refusals that only a person can resolve are retried rarely.
        air.run(seconds: 4.5)
        #expect(reason == .refused || reason == .rekeyed ? relay.joinCount == 1 : relay.joinCount > 1)
        air.run(seconds: 60)
        #expect(relay.joinCount > 1)
        relay.refusal = nil
        air.run(seconds: 60)
        #expect(member.eventsOnly == [.refused(reason), .joined(.listen, seenAt: member.endpoint)])
    }

    @Test func aRefusalThatTheRelayDidNotMakeIsNotBelieved() {
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 0.025)
        // The JOIN is on its way. An attacker that sees it knows the nonce, but not the key.
        let nonce = Array(relay.log[0].bytes[4..<20])
        for reason in Refusal.Reason.allCases where reason != .unproved && reason != .displaced {
            let forged: [UInt8] =
                [99, 1, 5, 0] + nonce + [reason.rawValue, 0, 0, 0] + [UInt8](repeating: 7, count: 16)
            #expect(air.inject(forged, to: 0) == .discarded(.unexpected))
        }
        air.run(seconds: 0.07)
        #expect(member.eventsOnly == [.joined(.listen, seenAt: member.endpoint)])
    }

    @Test func aGoodbyeIsReportedAndTheMemberComesBack() {
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 1)
        relay.say(.goodbye(.stopping))
        relay.forgetAll()
        air.settleRelay()
        air.run(seconds: 2)
        let joined = ChannelEvent.joined(.listen, seenAt: member.endpoint)
        #expect(member.eventsOnly == [joined, .closed(.stopping), joined])
    }

    @Test func aLeavingMemberSendsLeaveAndNothingElse() {
        let member = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let air = Airwaves([member], relay)
        air.run(seconds: 2)
        member.speech = nil
        member.leave(at: air.now)
        air.flush(0)
        air.run(seconds: 0.05)
        #expect(relay.records.last == .leave)
        #expect(relay.sessions.isEmpty)
        let count = relay.log.count
        air.run(seconds: 60)
        #expect(relay.log.count == count)
        #expect(member.channel.nextDeadline == nil)
    }

    @Test func aPathChallengeIsAnswered() {
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 1)
        relay.say(.pathChallenge(77))
        air.settleRelay()
        air.run(seconds: 0.05)
        #expect(relay.records.last == .pathAnswer(77))
    }

    @Test func unknownSessionOnlyMakesAMemberAsk() throws {
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 1)
        let number = try #require(relay.sessions.first?.number)
        let datagram = [UInt8](capacity: 12) { ControlPacket.writeUnknownSession(number, into: &$0) }
        for _ in 0..<100 {
            air.inject(datagram, to: 0)
            air.run(seconds: 0.01)
        }
        #expect(relay.renewalCount <= 5)
        #expect(relay.helloCount == 1 && member.events.count == 1)
        // An unknown-session datagram for another session is ignored.
        let other = [UInt8](capacity: 12) { ControlPacket.writeUnknownSession(number + 1, into: &$0) }
        #expect(air.inject(other, to: 0) == .discarded(.unexpected))
    }

    @Test func manyUnknownSessionsAreNoMoreThanOne() throws {
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 1)
        let number = try #require(relay.sessions.first?.number)
        let count = relay.renewalCount
        let datagram = [UInt8](capacity: 12) { ControlPacket.writeUnknownSession(number, into: &$0) }
        // All of them arrive within one round trip.
        for _ in 0..<10 { air.inject(datagram, to: 0) }
        #expect(member.isJoined)
        air.run(seconds: 1)
        #expect(relay.renewalCount == count + 1)
        #expect(relay.helloCount == 1 && member.events.count == 1)
    }

    /// The relay's answers are so late that they arrive while the member is already trying the other address.
    @Test(arguments: [false, true], [600, 900])
    func aSlowRelayIsLetAnswerThoughItsNameHasTwoAddresses(isFirst: Bool, delay: Int) {
        let wrong = Endpoint(.v4(0xC633_6409), port: 5_004)
        let endpoints = isFirst ? [Airwaves.relay, wrong] : [wrong, Airwaves.relay]
        let member = Member(0, Family.configuration(.listen, endpoints: endpoints), ssrc: 9)
        let air = Airwaves([member], relay, network: NetworkModel(delay: .milliseconds(delay)))
        air.run(seconds: 15)
        #expect(member.isJoined)
        air.run(seconds: 60)
        #expect(member.isJoined && member.eventsOnly.last == .joined(.listen, seenAt: member.endpoint))
    }

    @Test func aRefusalIsForgottenWhenTheRelayAcceptsLater() throws {
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 1)
        // Records are lost until the member gives up the relay and joins again, which is refused.
        air.loses = { datagram, _ in datagram[0] == 99 && datagram[2] == 6 }
        relay.refusal = .unproved
        while relay.joinCount == 1 { air.run(seconds: 0.01) }
        air.run(seconds: 0.03)
        #expect(member.eventsOnly.last == .lost)
        air.loses = nil
        relay.say(
            .renewed(
                token: 1, receipt: 1,
                Welcome.Terms(lease: 30, clock: Airwaves.clock(at: air.now), address: PeerAddress(member.endpoint))))
        air.settleRelay()
        air.run(seconds: 5)
        let joined = ChannelEvent.joined(.listen, seenAt: member.endpoint)
        #expect(member.eventsOnly == [joined, .lost, joined])
    }

    @Test func aRelayThatHasMovedIsJoinedAsSoonAsThatIsKnown() {
        let wrong = Endpoint(.v4(0xC633_6409), port: 5_004)
        let member = Member(0, Family.configuration(.listen, endpoints: [wrong]), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 120)
        #expect(member.eventsOnly == [.lost])
        // Setting the same address again starts no new attempt.
        member.channel.setRelays(Family.relays([wrong]), at: air.now)
        air.flush(0)
        air.run(seconds: 0.01)
        #expect(relay.log.isEmpty)
        member.channel.setRelays(Family.relays([Airwaves.relay, wrong]), at: air.now)
        air.flush(0)
        air.run(seconds: 0.07)
        let reached = ChannelEvent.relayReached(Airwaves.relay, insteadOf: nil, because: nil)
        #expect(member.eventsOnly == [.lost, reached, .joined(.listen, seenAt: member.endpoint)])
    }

    @Test func endpointsAreTriedInTurn() {
        let wrong = Endpoint(.v4(0xC633_6409), port: 5_004)
        let member = Member(0, Family.configuration(.listen, endpoints: [wrong, Airwaves.relay]), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 0.4)
        #expect(member.isJoined)
    }

    @Test func aRelayThatIsVeryFarAwayLetsAMemberIn() {
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay, network: NetworkModel(delay: .milliseconds(600)))
        air.run(seconds: 60)
        #expect(member.isJoined)
        // Only the first attempts time out: the member does not know the round-trip time yet.
        let last = member.events.last?.at ?? air.now
        #expect(last < .start + .seconds(5))
    }

    @Test func aDatagramFromElsewhereIsNothing() throws {
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay)
        air.run(seconds: 1)
        relay.say(.goodbye(.full))
        let goodbye = try #require(relay.nextDatagram())
        let elsewhere = Endpoint(Airwaves.relay.address, port: 5_005)
        #expect(air.inject(goodbye.bytes, to: 0, from: elsewhere) == .discarded(.stranger))
        #expect(member.isJoined)
        #expect(air.inject(goodbye.bytes, to: 0) == .handled)
        #expect(!member.isJoined)
    }

    @Test func aBadLineDoesNotCostAMemberItsPlace() {
        let seeds = 1...20 as ClosedRange<UInt64>
        let eventCounts = seeds.map { seed in
            let member = Member(0, Family.configuration(.listen), ssrc: 9)
            let relay = TinyRelay(Family.talk)
            let network = NetworkModel(loss: .random(0.2), delay: .milliseconds(100))
            Airwaves([member], relay, network: network, seed: seed).run(seconds: 600)
            #expect(relay.helloCount < 20 && relay.renewalCount >= 60, "\(seed)")
            return member.events.count
        }
        #expect(eventCounts.reduce(0, +) <= 5 * eventCounts.count, "\(eventCounts)")
    }

    /// For example, an earlier run was killed and its place in the channel is not free yet.
    @Test func aMemberOfAFullChannelGoesOnTrying() {
        let member = Member(0, Family.configuration(.listen), ssrc: 9)
        let air = Airwaves([member], relay)
        relay.refusal = .full
        air.run(seconds: 10)
        relay.refusal = nil
        air.run(seconds: 7)
        #expect(member.eventsOnly == [.refused(.full), .joined(.listen, seenAt: member.endpoint)])
    }
}
