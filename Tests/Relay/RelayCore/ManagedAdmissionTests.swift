import TenfourAudioCore
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Who may join a channel with an owner, and who must leave it.
struct ManagedAdmissionTests {
    private let family = ManagedFamily(memberCount: 4)

    private func discards(_ room: RelayHarness) -> RelayDiscardCounts { room.relay.status.discards }

    /// A relay that has the first roster, and its owner.
    private func room(listeners: Set<UInt16> = []) -> (RelayHarness, SimulatedMember) {
        let (room, owner) = (RelayHarness(family.configuration), family.member(0))
        #expect(owner.join(room))
        deposit(family.roster(1, listeners: listeners), by: owner, in: room)
        return (room, owner)
    }

    private func deposit(_ roster: SignedRoster, by owner: SimulatedMember, in room: RelayHarness) {
        for record in family.deposit(of: roster) { #expect(owner.say(record, room) == .handled) }
        room.run(.milliseconds(20))
    }

    private func refusal(_ member: SimulatedMember, _ room: RelayHarness) -> Refusal.Reason? {
        if case .refusal(let reason) = member.knock(room) { reason } else { nil }
    }

    @Test func onlyTheOwnerJoinsAChannelWithoutARoster() {
        let room = RelayHarness(family.configuration)
        // A second attempt is another JOIN2, because a member draws its nonce; here it follows from the host.
        #expect(refusal(family.member(1, host: 60), room) == .notAdmitted)
        #expect(discards(room)[.notAdmitted] == 1 && room.relay.status.channels[0].memberCount == 0)
        let owner = family.member(0)
        #expect(owner.join(room))
        for record in family.deposit(of: family.roster(1)) { #expect(owner.say(record, room) == .handled) }
        #expect(room.files.isEmpty && owner.managedRecords(room).records.isEmpty, "nothing is on disk yet")
        room.run(.milliseconds(20))
        let records = owner.managedRecords(room).records
        #expect(records.contains { if case .deposited(let it) = $0 { it.id.rosterVersion == 1 } else { false } })
        // The owner is told like every member.
        #expect(records.contains { if case .news(let news) = $0 { news.head.version == 1 } else { false } })
        #expect(family.member(1).join(room))
        #expect(room.files["family"] != nil && room.relay.status.channels[0].memberCount == 2)
    }

    @Test func aMemberJoinsInItsRole() {
        let (room, _) = room(listeners: [2])
        #expect(family.member(1).join(room))
        #expect(family.member(1, .listen, host: 20).join(room), "who may talk may also listen")
        #expect(refusal(family.member(2), room) == .notAdmitted)
        #expect(family.member(2, .listen).join(room))
        #expect(discards(room)[.notAdmitted] == 1)
    }

    @Test func strangersAndOldJoinsAreRefused() {
        let (room, _) = room()
        var randomness = SeededRandom(seed: 99)
        let stranger = family.member(1, as: MemberIdentity(using: &randomness))
        #expect(refusal(stranger, room) == .notAdmitted)
        // The same JOIN2 again costs nothing, and has the same answer.
        #expect(stranger.refusals(room).count == 1 && discards(room)[.replayedJoin] == 1)
        let old = SimulatedMember(family.keys, .talk, at: .host(50))
        #expect(refusal(old, room) == .refused)
        #expect(discards(room)[.refused] == 1 && discards(room)[.notAdmitted] == 1)
        // Without an identity no member believes that it can join.
        let nameless = family.member(1, host: 51)
        nameless.identity = nil
        if case .welcome = nameless.knock(room) { Issue.record("a member without identity was let in") }
    }

    @Test func aRemovedMemberMustLeaveAtOnce() {
        let (room, owner) = room()
        let (bob, anna) = (family.member(1), family.member(2))
        let other = family.member(1, .listen, host: 30)
        let waiting = family.member(1, host: 31)
        #expect(bob.join(room) && anna.join(room) && other.join(room))
        guard case .welcome = waiting.knock(room) else { return #expect(Bool(false), "not welcomed") }
        _ = bob.managedRecords(room)
        _ = room.takeEvents()
        deposit(family.roster(2, without: [1]), by: owner, in: room)
        #expect(bob.managedRecords(room).goodbyes == [.notAdmitted])
        #expect(other.managedRecords(room).goodbyes == [.notAdmitted])
        let left = room.takeEvents().count { if case .left = $0 { true } else { false } }
        #expect(left == 2 && room.relay.status.channels[0].memberCount == 2)
        #expect(bob.talk(room) == .discarded(.strangerMedia))
        // A session that was welcomed before, and has sent no record.
        waiting.renew(room)
        #expect(waiting.managedRecords(room).goodbyes == [.notAdmitted] && discards(room)[.notAdmitted] == 1)
        #expect(refusal(family.member(1, host: 61), room) == .notAdmitted)
        #expect(anna.managedRecords(room).goodbyes.isEmpty)
    }

    @Test func theNewestSessionOfAMemberIsTold() {
        let (room, owner) = room()
        let (first, second) = (family.member(1), family.member(1, host: 40))
        #expect(first.join(room) && second.join(room))
        _ = (first.managedRecords(room), second.managedRecords(room))
        func versions(_ member: SimulatedMember) -> [UInt32] {
            member.managedRecords(room).records.compactMap {
                if case .news(let news) = $0 { news.head.version } else { nil }
            }
        }
        deposit(family.roster(2), by: owner, in: room)
        #expect(versions(first).isEmpty && versions(second) == [2])
        second.say(.leave, room)
        deposit(family.roster(3), by: owner, in: room)
        #expect(versions(first) == [3] && versions(second).isEmpty)
        first.say(.leave, room)
        deposit(family.roster(4), by: owner, in: room)
        #expect(versions(first).isEmpty)
    }

    @Test func whoMayTalkNoMoreComesBackAsAListener() {
        let (room, owner) = room()
        let bob = family.member(1)
        #expect(bob.join(room))
        deposit(family.roster(2, listeners: [1]), by: owner, in: room)
        #expect(bob.managedRecords(room).goodbyes == [.notAdmitted])
        #expect(refusal(family.member(1, host: 62), room) == .notAdmitted)
        #expect(family.member(1, .listen, host: 63).join(room))
    }

    @Test func onlySignedAnnouncementsAreForwarded() {
        let (room, _) = room()
        let bob = family.member(1)
        #expect(bob.join(room))
        #expect(bob.announce(room) == .discarded(.unexpectedControl))
        let content = AnnouncedEpoch(
            suite: .aesCounterMode, ssrc: bob.ssrc, epoch: SimulatedMember.epoch,
            index: PacketIndex(rolloverCounter: 0, bob.sequenceNumber), at: RelayHarness.clock)
        let signed = [UInt8](capacity: 124) { bytes in
            content.write(into: &bytes)
            while bytes.count < 124 { bytes.append(7) }
        }
        let datagram = [UInt8](capacity: 128) { ControlPacket.write(signedAnnouncement: signed.span, into: &$0) }
        let reception = room.receive(bob.tagged(datagram), from: bob.endpoint)
        #expect(reception == .forward(.announced, byteCount: 128, channel: 0, talker: bob.number!))
        // A member that comes later gets the same bytes.
        let anna = family.member(2)
        #expect(anna.join(room) && anna.records(room).others.contains { $0.starts(with: datagram) })
    }

    @Test func anotherOwnerNeedsNewLinks() {
        let (room, owner) = room()
        var configuration = family.configuration
        room.reload(configuration)
        #expect(owner.managedRecords(room).goodbyes.isEmpty && family.member(1).join(room), "the roster stays")
        configuration.channels[0].owner = family.identity(4).key
        room.reload(configuration)
        #expect(owner.managedRecords(room).goodbyes == [.rekeyed])
        #expect(room.relay.status.channels[0].memberCount == 0)
    }
}
