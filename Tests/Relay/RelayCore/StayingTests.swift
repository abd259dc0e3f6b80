import TenfourAudioCore
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Members that stay, members that move, and members whose lease ends.
struct StayingTests {
    private let family = ChannelKeys.drawn("family")
    private let other = ChannelKeys.drawn("other", seed: 8)
    private let room: RelayHarness
    private let talker: SimulatedMember
    private let listener: SimulatedMember

    init() {
        room = RelayHarness([family, other])
        talker = SimulatedMember(family, .talk, at: .host(1))
        listener = SimulatedMember(family, .listen, at: .host(2))
        _ = talker.join(room) && listener.join(room)
        _ = room.takeEvents()
        room.inbox = [:]
    }

    @Test func aSilentListenerGetsNothingAfterItsLease() {
        room.run(.seconds(20))
        talker.renew(room)
        room.run(.milliseconds(9_999))
        #expect(room.takeEvents().isEmpty)
        room.run(.milliseconds(1))
        #expect(room.takeEvents() == [.left(member: 1, channel: 0)])
        #expect(listener.renew(room) == .discarded(.unknownSession))
        talker.announce(room)
        #expect(room.take(listener.endpoint).allSatisfy { $0.count == 12 })
        room.run(.seconds(30))
        #expect(room.takeEvents() == [.left(member: 0, channel: 0)])
        #expect(room.relay.status.channels[0].memberCount == 0 && room.relay.nextDeadline == nil)
    }

    @Test func anUnconfirmedSessionEndsAfterThreeSeconds() {
        let ghost = SimulatedMember(family, .talk, at: .host(3))
        ghost.knock(room)
        #expect(talker.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: 0))
        #expect(ghost.announce(room) == .discarded(.earlyMedia))
        #expect(room.take(ghost.endpoint).isEmpty)
        room.run(.seconds(3))
        #expect(ghost.renew(room) == .discarded(.unknownSession))
        #expect(!room.takeEvents().contains { if case .joined = $0 { true } else { false } })
    }

    @Test func leavingAndAnnouncementsOfThoseWhoTalk() {
        talker.announce(room)
        let late = SimulatedMember(family, .listen, at: .host(3))
        late.join(room)
        #expect(late.records(room).others == [talker.announcement()])
        // An old announcement is not sent, because members would reject it.
        room.run(.seconds(25))
        for member in [talker, listener] { member.renew(room) }
        let reply = room.take(listener.endpoint)
        #expect(reply.count == 1)
        late.say(.leave, room)
        #expect(room.takeEvents().contains(.left(member: 2, channel: 0)))
        for _ in 0..<5 {
            room.run(.seconds(20))
            talker.renew(room)
        }
        let later = SimulatedMember(family, .listen, at: .host(4))
        later.join(room)
        #expect(later.records(room).others.isEmpty)
    }

    @Test func aMemberMovesWhenItAnswersFromThere() throws {
        #expect(listener.say(.renewal(token: 9), room, from: .host(7)) == .handled)
        let challenges = room.take(.host(7))
        #expect(challenges.count == 1 && challenges[0].count == 53)
        // The answer to the renewal goes to the address that the member had before.
        #expect(listener.records(room).records.count == 1)
        #expect(room.takeEvents().isEmpty)
        guard case .pathChallenge(let number) = try listener.opened(challenges[0]) else {
            Issue.record("no path challenge was sent")
            return
        }
        #expect(listener.say(.pathAnswer(number), room, from: .host(8)) == .discarded(.strayPathAnswer))
        #expect(listener.say(.pathAnswer(number ^ 1), room, from: .host(7)) == .discarded(.strayPathAnswer))
        #expect(listener.say(.pathAnswer(number), room, from: .host(7)) == .handled)
        #expect(room.takeEvents() == [.moved(member: 1, channel: 0, .host(7))])
        listener.endpoint = .host(7)
        listener.renew(room)
        #expect(listener.records(room).records.count == 1)
        #expect(listener.say(.pathAnswer(number), room) == .discarded(.strayPathAnswer))
    }

    @Test func challengesAreSeldomAndNeverMoreThanCame() {
        let before = room.bytesOut
        for step in 0..<100 {
            room.now = room.now + .milliseconds(10)
            listener.say(.renewal(token: UInt64(step)), room, from: .host(7))
        }
        #expect(room.take(.host(7)).count == 5)
        _ = room.take(listener.endpoint)
        #expect(room.bytesOut - before <= 100 * 82 + 5 * 53)
        // A report may be shorter than a path challenge. Then two reports are needed for one challenge, and unused
        // bytes remain as credit.
        let report = ReceiverReport(ssrc: SSRC(1))
        var (bytesIn, bytesOut) = (0, 0)
        for step in 0..<50 {
            room.now = room.now + .milliseconds(200)
            let datagram = talker.sealed { report.write(into: &$0) }
            #expect(room.receive(datagram, from: .host(8)) == .handled)
            bytesIn += datagram.count
            bytesOut += room.take(.host(8)).map(\.count).reduce(0, +)
            #expect(bytesOut <= bytesIn, "\(step)")
        }
        #expect(bytesIn == 50 * 45 && bytesOut == 42 * 53)
        // Bytes received from one address give no credit to another.
        for step in 0..<20 {
            room.now = room.now + .milliseconds(200)
            let sender = Endpoint.host(10 + step % 2)
            room.receive(talker.sealed { report.write(into: &$0) }, from: sender)
            #expect(room.take(sender).isEmpty, "\(step)")
        }
    }

    @Test func aTalkerWhoMovesIsHeardAllTheTime() throws {
        talker.announce(room)
        talker.talk(room)
        let sent = talker.tagged(talker.packet())
        #expect(room.receive(sent, from: .host(9)) == .forward(.media, byteCount: 100, channel: 0, talker: 0))
        #expect(room.receive(sent, from: .host(9)) == .discarded(.replayedMedia))
        let challenge = try #require(room.take(.host(9)).first)
        guard case .pathChallenge(let number) = try talker.opened(challenge) else {
            Issue.record("no path challenge was sent")
            return
        }
        _ = room.takeEvents()
        talker.say(.pathAnswer(number), room, from: .host(9))
        #expect(
            room.takeEvents() == [
                .quiet(member: 0), .moved(member: 0, channel: 0, .host(9)), .talking(member: 0, .host(9)),
            ])
        talker.endpoint = .host(9)
        #expect(talker.talk(room) == .forward(.media, byteCount: 100, channel: 0, talker: 0))
    }

    @Test func unknownSessionsAreReportedTwentyTimesASecond() {
        room.run(.seconds(30))
        room.inbox = [:]
        for _ in 0..<100 { #expect(listener.renew(room) == .discarded(.unknownSession)) }
        let answers = room.take(listener.endpoint)
        #expect(answers.count == 20)
        #expect(answers.allSatisfy { $0.count == 12 && Array($0[4...]) == Array(listener.sealed(.leave)[4..<12]) })
    }

    @Test func fiftyRecordsASecondAndLeaveAlways() {
        var handledCount = 0
        for step in 0..<400 {
            room.now = .start + .milliseconds(5 * step)
            if listener.renew(room) == .handled { handledCount += 1 }
        }
        // A burst of one hundred records, and fifty a second for two seconds.
        #expect((195...202).contains(handledCount))
        #expect(room.relay.status.discards[.tooManyRecords] == 400 - handledCount)
        #expect(listener.say(.leave, room) == .handled)
        #expect(room.takeEvents() == [.left(member: 1, channel: 0)])
    }

    @Test func reloadingKeepsWhoIsInAnUnchangedChannel() {
        let third = ChannelKeys.drawn("third", seed: 10)
        let elsewhere = SimulatedMember(other, .listen, at: .host(5))
        elsewhere.join(room)
        _ = room.takeEvents()
        room.inbox = [:]
        room.reload(RelayConfiguration([third, family]))
        #expect(room.takeEvents() == [.left(member: 2, channel: 1), .ended(channel: 1)])
        #expect(elsewhere.records(room).records == [.goodbye(.refused)])
        #expect(talker.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: 0))
        #expect(room.relay.status.channels.map(\.name) == ["family", "third"])

        let rekeyed = ChannelKeys.drawn("family", seed: 11)
        room.reload(RelayConfiguration([rekeyed]))
        #expect(listener.records(room).records == [.goodbye(.rekeyed)])
        #expect(talker.records(room).records == [.goodbye(.rekeyed)])
        #expect(talker.announce(room) == .discarded(.strangerMedia))
        // A member with the old secret is told that the channel has new keys; one with the new secret joins.
        let late = SimulatedMember(family, .listen, at: .host(6))
        guard case .refusal(.rekeyed) = late.knock(room) else {
            Issue.record("was not refused as rekeyed")
            return
        }
        #expect(SimulatedMember(rekeyed, .listen, at: .host(7)).join(room))
    }

    /// A goodbye reaches all members, in whatever order they have joined and left.
    @Test func aGoodbyeReachesAllInItsChannelAndNobodyElse() {
        var randomness = SeededRandom(seed: 5)
        let room = RelayHarness([family, other], limits: .wide)
        let talker = SimulatedMember(family, .talk, at: .host(1_000))
        #expect(talker.join(room))
        var members: [SimulatedMember] = []
        for number in 0..<300 {
            if number % 3 == 2, let leaver = members.indices.randomElement(using: &randomness) {
                members.remove(at: leaver).say(.leave, room)
            }
            let member = SimulatedMember(number % 2 == 0 ? family : other, .listen, at: .host(number))
            #expect(member.join(room))
            members.append(member)
        }
        #expect(members.count == 200)
        talker.announce(room)
        room.inbox = [:]
        talker.say(.leave, room)
        for member in members {
            #expect(member.goodbyes(room) == (member.keys.name == "family" ? [talker.ssrc] : []))
        }
        #expect(room.inbox.isEmpty)
        room.reload(RelayConfiguration([family]))
        for member in members {
            #expect(member.records(room).records == (member.keys.name == "family" ? [] : [.goodbye(.refused)]))
        }
        room.stop()
        #expect(room.inbox.count == members.count { $0.keys.name == "family" })
        #expect(room.relay.status.channels[0].memberCount == 0)
    }

    @Test func aMemberWithARecentOldSecretLearnsIt() {
        let secrets = (0..<520).map { ChannelKeys.drawn("family", seed: 1_000 + UInt64($0)) }
        for keys in secrets { room.reload(RelayConfiguration([keys])) }
        for (age, isKnown) in [(1, true), (512, true), (513, false), (519, false)] {
            let late = SimulatedMember(secrets[519 - age], .listen, at: .host(10 + age))
            late.knock(room)
            let (known, unknown) = (room.relay.status.discards[.rekeyed], room.relay.status.discards[.unproved])
            late.helloAndCookie(room)
            room.receive(late.joinDatagram, from: late.endpoint)
            #expect(room.relay.status.discards[.rekeyed] == known + (isKnown ? 1 : 0), "\(age)")
            #expect(room.relay.status.discards[.unproved] == unknown + (isKnown ? 0 : 1), "\(age)")
        }
    }

    @Test func aChannelIsTheSameWhereverItStands() {
        let many = (0..<2_000).map { ChannelKeys.drawn("channel\($0)", seed: UInt64($0)) }
        room.reload(RelayConfiguration(many))
        let member = SimulatedMember(many[7], .listen, at: .host(5))
        #expect(member.join(room))
        _ = room.takeEvents()
        room.reload(RelayConfiguration(many.reversed()))
        #expect(room.takeEvents().isEmpty)
        #expect(room.relay.status.channels.map(\.name) == many.map(\.name))
        room.reload(RelayConfiguration(many.dropFirst(1_000).reversed()))
        let events = room.takeEvents()
        #expect(
            events.filter { if case .ended = $0 { false } else { true } } == [.left(member: member.number!, channel: 9)]
        )
        #expect(events.count == 1_001 && Set(events).count == 1_001)
    }

    @Test(arguments: [Refusal.Reason.stopping, .left])
    func aStoppingRelaySendsByeToAll(reason: Refusal.Reason) {
        talker.announce(room)
        room.inbox = [:]
        room.stop(for: reason)
        #expect(talker.records(room).records == [.goodbye(reason)])
        #expect(listener.records(room).records == [.goodbye(reason)])
        #expect(Set(room.takeEvents()) == [.left(member: 0, channel: 0), .left(member: 1, channel: 0)])
        guard case .refusal(reason) = SimulatedMember(family, .listen, at: .host(6)).knock(room) else {
            Issue.record("joined although it must be refused")
            return
        }
    }
}
