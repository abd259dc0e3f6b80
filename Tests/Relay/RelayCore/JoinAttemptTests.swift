import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// Joins that succeed and joins that are refused.
struct JoinAttemptTests {
    private let family = ChannelKeys.drawn("family")
    private let room: RelayHarness

    init() { room = RelayHarness([family, .drawn("other", seed: 8)]) }

    @Test func mediaIsForwardedWithoutItsHopTag() {
        let talker = SimulatedMember(family, .talk, at: .host(1))
        let listener = SimulatedMember(family, .listen, at: .host(2))
        #expect(talker.join(room) && listener.join(room))
        #expect(
            room.takeEvents() == [
                .joined(member: 0, channel: 0, .host(1)), .joined(member: 1, channel: 0, .host(2)),
            ])
        #expect(talker.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: 0))
        #expect(talker.talk(room) == .forward(.media, byteCount: 100, channel: 0, talker: 0))
        #expect(room.takeEvents() == [.talking(member: 0, .host(1))])
        let status = room.relay.status
        #expect(status.channels.map(\.name) == ["family", "other"])
        #expect(status.channels[0].memberCount == 2 && status.channels[0].listenerCount == 1)
        #expect(status.channels[0].talkerCount == 1 && status.channels[0].forwardedCount == 2)
    }

    @Test func aMemberLearnsItsLeaseTheTimeAndItsAddress() throws {
        room.now = .start + .seconds(3)
        let listener = SimulatedMember(family, .listen, at: .host(2))
        #expect(listener.join(room))
        let terms = try #require(listener.terms)
        #expect(terms.lease == 30 && terms.clock.sinceEpoch == RelayHarness.clock.sinceEpoch + 3_000)
        #expect(terms.address == PeerAddress(v4: 0x0A00_0201, port: 40_000))
        #expect(listener.records(room).records == [.renewed(token: 5, receipt: listener.receipt, terms)])
    }

    @Test func anUnknownChannelAndAWrongSecretLookAlike() throws {
        // The first JOIN has an unknown channel id; the second names our channel, but its proof is wrong.
        let stranger = SimulatedMember(.drawn("elsewhere", seed: 9), .talk, at: .host(1))
        _ = stranger.knock(room)
        #expect(room.relay.status.discards[.unproved] == 1)
        let unknown = stranger.refusals(room)
        let guesser = SimulatedMember(family, .talk, at: .host(2))
        _ = guesser.knock(RelayHarness([family]))
        guesser.helloAndCookie(room)
        var guess = guesser.joinDatagram
        guess[127] ^= 1
        #expect(room.receive(guess, from: guesser.endpoint) == .discarded(.unproved))
        let refusal = try #require(room.take(guesser.endpoint).last)
        let other = try #require(unknown.last)
        #expect(refusal.count == other.count && refusal.count == 40)
        for place in [0, 1, 2, 3, 20, 21, 22, 23] { #expect(refusal[place] == other[place]) }
        #expect(room.relay.status.channels[0].memberCount == 0)
    }

    @Test func aForgedCookieIsAnsweredByNothing() {
        let member = SimulatedMember(family, .talk, at: .host(1))
        member.helloAndCookie(room)
        var join = member.joinDatagram
        join[25] ^= 1
        #expect(room.receive(join, from: member.endpoint) == .discarded(.cookie))
        #expect(room.receive(member.joinDatagram, from: .host(2)) == .discarded(.cookie))
        #expect(room.receive(member.joinDatagram, from: .host(1, port: 1)) == .discarded(.cookie))
        room.now = room.now + .seconds(121)
        #expect(room.receive(member.joinDatagram, from: member.endpoint) == .discarded(.cookie))
        #expect(room.inbox.isEmpty)
    }

    @Test func twentyFailuresASecondAreAnsweredAndOnlyTheirAddressSuffers() {
        let guesser = SimulatedMember(.drawn("elsewhere", seed: 9), .talk, at: .host(1))
        for _ in 0..<20 { guesser.knock(room) }
        #expect(room.relay.status.discards[.unproved] == 20)
        guesser.knock(room)
        #expect(room.relay.status.discards[.tooManyFailures] == 1)
        let neighbour = SimulatedMember(family, .listen, at: Endpoint(.v4(0x0A00_0102), port: 40_000))
        #expect(neighbour.join(room))
        // Another member at the same address must wait for a moment.
        let housemate = SimulatedMember(family, .listen, at: .host(1, port: 5))
        #expect(!housemate.join(room))
        room.now = room.now + .milliseconds(51)
        #expect(housemate.join(room))
    }

    @Test func anotherRelaysJoinAndAListenerAsTalkerAreRefused() {
        let lost = SimulatedMember(family, .talk, at: .host(1))
        guard case .refusal(.refused) = lost.knock(room, relay: RelayID(host: "elsewhere", port: 5004)) else {
            Issue.record("joined although it must be refused")
            return
        }
        // A listener claims to be a talker and proves it with the listen key.
        let key = JoinKey(.talk, configurationText: family.listenJoin.configurationText)!
        var joining = JoinAttempt(key, relay: RelayHarness.name, using: &lost.randomness)
        for _ in 0..<2 {
            room.receive([UInt8](capacity: 128) { joining.write(into: &$0) }, from: .host(3))
            let answer = room.take(.host(3)).first ?? []
            if case .refusal(.refused) = joining.receive(answer.span) { break }
        }
        #expect(room.relay.status.discards[.refused] == 2)
    }

    @Test func aJoinIsHonouredOnce() {
        let member = SimulatedMember(family, .listen, at: .host(1))
        member.knock(room)
        let join = member.joinDatagram
        #expect(room.receive(join, from: member.endpoint) == .handled)
        let again = room.take(member.endpoint)
        #expect(again.count == 1 && again[0].count == 105)
        member.renew(room)
        #expect(room.receive(join, from: member.endpoint) == .discarded(.replayedJoin))
        member.say(.leave, room)
        room.run(.seconds(59))
        #expect(room.receive(join, from: member.endpoint) == .discarded(.replayedJoin))
        room.run(.seconds(59))
        #expect(room.receive(join, from: member.endpoint) == .discarded(.replayedJoin))
        room.run(.seconds(5))
        #expect(room.receive(join, from: member.endpoint) == .discarded(.cookie))
        #expect(room.relay.status.channels[0].memberCount == 0)
    }

    @Test func theSameWelcomeIsSentAgainAndNoOther() {
        let member = SimulatedMember(family, .listen, at: .host(1))
        member.helloAndCookie(room)
        room.receive(member.joinDatagram, from: member.endpoint)
        let first = room.take(member.endpoint)
        room.now = room.now + .milliseconds(250)
        room.receive(member.joinDatagram, from: member.endpoint)
        #expect(room.take(member.endpoint) == first)
        room.run(.seconds(3))
        #expect(room.receive(member.joinDatagram, from: member.endpoint) == .discarded(.replayedJoin))
        #expect(room.takeEvents().isEmpty)
    }

    @Test func aFullChannelSaysSoAndTakesBackWhoWasThere() {
        var limits = RelayLimits()
        limits.channelMembers = 4
        let room = RelayHarness([family], limits: limits)
        let members = (0..<3).map { SimulatedMember(family, .listen, at: .host($0)) }
        #expect(members[0].join(room) && members[1].join(room))
        guard case .refusal(.full) = members[2].knock(room) else {
            Issue.record("joined although it must be refused")
            return
        }
        #expect(room.relay.status.discards[.full] == 1)
        // A second join from the same address replaces the first session.
        let again = SimulatedMember(family, .listen, at: .host(1), seed: 5)
        #expect(again.join(room))
        #expect(room.relay.status.channels[0].memberCount == 2)
        members[0].say(.leave, room)
        #expect(members[2].join(room))
    }

    @Test func aChannelMayHaveRoomForMoreOrFewerThanTheOthers() {
        let small = ChannelKeys.drawn("small", seed: 10)
        var configuration = RelayConfiguration([family, small])
        configuration.limits.channelMembers = 5
        configuration.channels[1].limits.members = 1
        let room = RelayHarness(configuration)
        #expect(SimulatedMember(small, .listen, at: .host(1)).join(room))
        for number in 2..<5 { #expect(SimulatedMember(family, .listen, at: .host(number)).join(room)) }
        for keys in [small, family] {
            guard case .refusal(.full) = SimulatedMember(keys, .listen, at: .host(9)).knock(room) else {
                Issue.record("one member too many joined")
                return
            }
        }
        // A higher limit on one channel changes nothing for its present members or for the other channel.
        configuration.channels[1].limits.members = 4
        _ = room.takeEvents()
        room.reload(configuration)
        #expect(room.takeEvents().isEmpty)
        #expect(SimulatedMember(small, .listen, at: .host(7)).join(room))
        #expect(room.relay.status.channels.map(\.memberCount) == [3, 2])
        guard case .refusal(.full) = SimulatedMember(family, .listen, at: .host(8)).knock(room) else {
            Issue.record("one member too many joined")
            return
        }
    }

    @Test func aSessionThatTookAnOccupiedPlaceIsRefused() throws {
        var limits = RelayLimits()
        limits.channelMembers = 4
        let room = RelayHarness([family], limits: limits)
        let members = (0..<2).map { SimulatedMember(family, .listen, at: .host($0)) }
        #expect(members[0].join(room) && members[1].join(room))
        let second = SimulatedMember(family, .listen, at: .host(1), seed: 5)
        second.knock(room)
        // Meanwhile the session that it was to replace moves to another address.
        members[1].say(.renewal(token: 1), room, from: .host(9))
        guard case .pathChallenge(let number) = try members[1].opened(room.take(.host(9))[0]) else {
            Issue.record("no path challenge was sent")
            return
        }
        members[1].say(.pathAnswer(number), room, from: .host(9))
        room.inbox = [:]
        #expect(second.renew(room) == .discarded(.full))
        #expect(second.records(room).records == [.goodbye(.full)])
        #expect(room.relay.status.channels[0].memberCount == 2)
        #expect(second.renew(room) == .discarded(.unknownSession))
    }

    @Test func allOfAFullChannelMayJoinAgainTogether() {
        var limits = RelayLimits()
        limits.channelMembers = 10
        limits.members = 10
        let room = RelayHarness([family], limits: limits)
        for number in 0..<8 { #expect(SimulatedMember(family, .listen, at: .host(number)).join(room)) }
        let again = (0..<8).map { SimulatedMember(family, .listen, at: .host($0), seed: 5) }
        for member in again { member.knock(room) }
        for member in again { #expect(member.renew(room) == .handled) }
        #expect(room.relay.status.channels[0].memberCount == 8)
    }

    @Test func twoThousandHellosAreSavedAndThenTwentyASecond() {
        let stranger = SimulatedMember(.drawn("nobody", seed: 9), .talk, at: .host(1))
        stranger.helloAndCookie(room)
        stranger.knock(RelayHarness([family], seed: 4))
        let count = { (seconds: Int) -> Int in
            room.now = room.now + .seconds(seconds)
            for _ in 0..<3_000 { room.receive(stranger.helloDatagram, from: stranger.endpoint) }
            return room.take(stranger.endpoint).count
        }
        #expect(count(0) == 1_999)
        #expect(count(1) == 20)
        #expect(room.receive(stranger.joinDatagram, from: stranger.endpoint) == .discarded(.tooManyHandshakes))
        #expect(room.relay.status.discards[.tooManyHandshakes] == 1_001 + 2_980 + 1)
        // Another address has credit of its own.
        #expect(SimulatedMember(family, .listen, at: .host(2)).join(room))
    }

    @Test func anyNumberOfListenersLivesBehindOneAddress() {
        let room = RelayHarness([family], limits: .wide)
        for port: UInt16 in 1...2_500 {
            room.now = room.now + .milliseconds(2)
            #expect(SimulatedMember(family, .listen, at: .host(1, port: port)).join(room))
        }
    }

    @Test func joinsThatAreRefusedAreSpentToo() {
        let elsewhere = RelayID(host: "elsewhere", port: 5004)
        for number in 0..<5_000 { SimulatedMember(family, .talk, at: .host(number)).knock(room, relay: elsewhere) }
        #expect(room.relay.status.discards[.refused] == 5_000)
        SimulatedMember(family, .talk, at: .host(5_000)).knock(room, relay: elsewhere)
        #expect(room.relay.status.discards[.tooManyJoins] == 1)
    }

    /// Checking the proof again would cost time, and would use up credit from the number of proofs per second.
    @Test func aJoinThatWasRefusedIsAnsweredAgainAndNotProvedAgain() throws {
        let lost = SimulatedMember(family, .talk, at: .host(1))
        guard case .refusal(.refused) = lost.knock(room, relay: RelayID(host: "elsewhere", port: 5004)) else {
            Issue.record("joined although it must be refused")
            return
        }
        let first = try #require(lost.refusals(room).first)
        for _ in 0..<10_000 {
            #expect(room.receive(lost.joinDatagram, from: lost.endpoint) == .discarded(.replayedJoin))
        }
        let answers = room.take(lost.endpoint)
        #expect(answers.count == 10_000 && answers.allSatisfy { $0 == first })
        #expect(room.relay.status.discards[.refused] == 1 && room.relay.status.discards[.tooManyJoins] == 0)
        // A different JOIN with the same cookie is checked anew; the same JOIN from another address has an invalid
        // cookie.
        var other = lost.joinDatagram
        other[127] ^= 1
        #expect(room.receive(other, from: lost.endpoint) == .discarded(.unproved))
        #expect(room.receive(lost.joinDatagram, from: .host(2)) == .discarded(.cookie))
        #expect(SimulatedMember(family, .talk, at: .host(3)).join(room))
        room.now = room.now + .seconds(121)
        #expect(room.receive(lost.joinDatagram, from: lost.endpoint) == .discarded(.cookie))
    }

    @Test func alteredCopiesOfAnAcceptedJoinAreIgnored() {
        let member = SimulatedMember(family, .listen, at: .host(1))
        member.knock(room)
        var join = member.joinDatagram
        join[127] ^= 1
        #expect(room.receive(join, from: member.endpoint) == .discarded(.replayedJoin))
        #expect(room.inbox.isEmpty && room.relay.status.discards[.unproved] == 0)
    }

    @Test func theClockMayBeSetWhileTheRelayRuns() throws {
        room.now = .start + .seconds(100)
        room.relay.setClock(WallClock(milliseconds: 1_800_000_000_000), at: room.now)
        room.now = room.now + .seconds(2)
        let listener = SimulatedMember(family, .listen, at: .host(2))
        listener.knock(room)
        #expect(try #require(listener.terms).clock.sinceEpoch == 1_800_000_002_000)
    }

    @Test func fiveThousandJoinsASecondAreTaken() {
        let room = RelayHarness([family], limits: .wide)
        var limitedCount = 0
        for number in 0..<5_010 {
            let member = SimulatedMember(family, .listen, at: .host(number))
            if case .refusal(.limited) = member.knock(room) { limitedCount += 1 }
        }
        #expect(limitedCount == 10 && room.relay.status.discards[.tooManyJoins] == 10)
    }

    @Test func aMemberThatRejoinsFromItsAddressGetsNothingTwice() {
        let member = SimulatedMember(family, .talk, at: .host(1))
        #expect(member.join(room))
        #expect(member.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: 0))
        _ = room.takeEvents()
        let again = SimulatedMember(family, .talk, at: .host(1), seed: 5)
        again.ssrc = member.ssrc
        again.knock(room)
        #expect(member.talk(room) == .forward(.media, byteCount: 100, channel: 0, talker: 0))
        _ = room.takeEvents()
        again.renew(room)
        #expect(
            room.takeEvents() == [
                .quiet(member: 0), .left(member: 0, channel: 0), .joined(member: 1, channel: 0, .host(1)),
                .talking(member: 1, .host(1)),
            ])
        #expect(member.talk(room) == .discarded(.forgedMedia))
        #expect(again.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: 1))
    }

    @Test func aTalkerThatJoinsAgainWhileItTalksGoesOn() {
        let listener = SimulatedMember(family, .listen, at: .host(2))
        let rival = SimulatedMember(family, .talk, at: .host(3))
        let talker = SimulatedMember(family, .talk, at: .host(1))
        #expect(listener.join(room) && rival.join(room) && talker.join(room))
        talker.announce(room)
        talker.talk(room)
        let missed = talker.packet()
        room.receive(talker.tagged(missed), from: talker.endpoint)
        room.inbox = [:]
        talker.join(room)
        // The talker keeps its announced SSRC and its place, and its earlier packets can still be retransmitted.
        #expect(talker.talk(room) == .forward(.media, byteCount: 100, channel: 0, talker: 3))
        #expect(listener.goodbyes(room).isEmpty)
        #expect(rival.announce(room, talker.ssrc) == .discarded(.takenSSRC))
        listener.report(room) {
            GenericNACK(sender: SSRC(3), media: talker.ssrc, sequenceNumbers: [SequenceNumber(rawValue: 65_531)])
                .write(into: &$0)
        }
        #expect(listener.records(room).others == [missed])
        let late = SimulatedMember(family, .listen, at: .host(4))
        late.join(room)
        #expect(late.records(room).others.count == 1)
        #expect(room.relay.status.channels[0].talkerCount == 1 && room.relay.status.channels[0].memberCount == 4)
        // Its SSRC becomes free when it leaves.
        talker.say(.leave, room)
        #expect(listener.goodbyes(room) == [talker.ssrc])
        #expect(rival.announce(room, talker.ssrc) == .forward(.announced, byteCount: 56, channel: 0, talker: 1))
    }

    @Test func aMemberThatRejoinsAsAListenerNoLongerTalks() {
        let listener = SimulatedMember(family, .listen, at: .host(2))
        let talker = SimulatedMember(family, .talk, at: .host(1))
        #expect(listener.join(room) && talker.join(room))
        talker.announce(room)
        talker.talk(room)
        room.inbox = [:]
        #expect(SimulatedMember(family, .listen, at: .host(1), seed: 5).join(room))
        #expect(listener.goodbyes(room) == [talker.ssrc])
    }
}

extension RelayLimits {
    /// Limits so high that a test never reaches them.
    static var wide: RelayLimits {
        var limits = RelayLimits()
        limits.channelMembers = 1_000_000
        limits.members = 1_000_000
        return limits
    }
}
