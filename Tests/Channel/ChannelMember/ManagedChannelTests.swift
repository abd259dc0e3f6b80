import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourManagedChannel
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Members of a managed channel and its relay: who is heard, under which name, and who is not.
struct ManagedChannelTests {
    private let relay = SignedFamily.relay()

    private func speech(from second: Int, count: Int? = 100) -> Speech {
        Speech(beginning: .start + .seconds(second), count: count)
    }

    @Test(arguments: RelayKind.allCases) func membersHearEachOtherUnderTheirNamesInTheRoster(with kind: RelayKind)
        throws
    {
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1), speech: speech(from: 30))
        let ben = SignedFamily.member(
            1, speech: speech(from: 20), verified: [SignedFamily.name(0): SignedFamily.owner.key])
        let cleo = SignedFamily.member(2)
        let air = Airwaves([owner, ben, cleo], SignedFamily.relay(kind))
        air.run(seconds: 34)
        for member in [owner, ben, cleo] { #expect(member.isJoined && member.channel.isManaged) }
        #expect(cleo.heard(from: 2).count == 100 && owner.heard(from: 2).count == 100)
        #expect(cleo.heard(from: 1).count == 100 && ben.heard(from: 1).count == 100)
        #expect(cleo.channel.signedTalker(of: SSRC(2), at: air.now)?.name == SignedFamily.name(1))
        let anna = ben.channel.signedTalker(of: SSRC(1), at: air.now)
        #expect(anna?.name == SignedFamily.name(0) && anna?.isVerified == true)
        #expect(cleo.channel.signedTalker(of: SSRC(1), at: air.now)?.isVerified == false)
        let told = cleo.managedEvents.compactMap { event -> MemberName? in
            if case .talkerKnown(_, let talker) = event { talker.name } else { nil }
        }
        #expect(told == [SignedFamily.name(1), SignedFamily.name(0)])
    }

    /// The relay forwards everything; a member that has no group secret hears and says nothing.
    @Test(arguments: RelayKind.allCases) func nobodyIsHeardWithoutTheGroupSecret(with kind: RelayKind) throws {
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1), speech: speech(from: 20))
        let cleo = SignedFamily.member(2, speech: speech(from: 20))
        cleo.storesFile = false
        let air = Airwaves([owner, SignedFamily.member(1), cleo], SignedFamily.relay(kind))
        air.run(seconds: 45)
        #expect(cleo.isJoined && cleo.heard.isEmpty && owner.heard(from: 3).isEmpty)
        #expect(cleo.discards[.withoutSecret] == 100 && cleo.discards[.forged] > 0)
        #expect(cleo.managedEvents.contains(.waiting))
        #expect(air.members[1].heard(from: 1).count == 100)
    }

    @Test(arguments: RelayKind.allCases) func aStationWithoutAnIdentityIsToldWhatToDo(with kind: RelayKind) throws {
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1))
        let stranger = Member(1, Family.configuration(.talk, fingerprint: SignedFamily.fingerprint), ssrc: 2)
        let unlisted = SignedFamily.member(3)
        let air = Airwaves([owner, stranger, unlisted], SignedFamily.relay(kind))
        unlisted.endpoint = Airwaves.endpoint(2)
        air.run(seconds: 10)
        #expect(stranger.eventsOnly == [.relayDoubted(.owner)])
        #expect(unlisted.eventsOnly == [.refused(.notAdmitted)])
    }

    /// Ben talks all the time. Cleo is removed: she hears nothing more, and is not heard, even though the relay goes on
    /// forwarding for her (the small one does).
    @Test(arguments: RelayKind.allCases) func aRemovedMemberIsDeafAndMute(with kind: RelayKind) throws {
        relay.forwardsForStrangers = true
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1))
        let ben = SignedFamily.member(1, speech: speech(from: 20, count: 2_000))
        let cleo = SignedFamily.member(2, speech: speech(from: 20, count: 2_000))
        let air = Airwaves([owner, ben, cleo], kind == .tiny ? relay : SignedFamily.relay(kind))
        air.run(seconds: 30)
        #expect(cleo.heard(from: 2).count > 400 && ben.heard(from: 3).count > 400)
        owner.channel.deposit(try SignedFamily.roster(2, [0, 1]), at: air.now)
        air.flush(0)
        let removal = air.now
        air.run(seconds: 20)
        #expect(owner.managedEvents.contains(.rosterDeposited(version: 2)))
        #expect(cleo.managedEvents.contains(.removed) && cleo.disk == nil)
        #expect(cleo.eventsOnly.contains(.closed(.notAdmitted)))
        let last = try #require(cleo.heard.last?.at)
        let lastOfCleo = try #require(ben.heard(from: 3).last?.at)
        #expect(last - removal < .seconds(2) && lastOfCleo - removal < .seconds(2))
        // Ben and the owner have not missed a packet.
        #expect(owner.heard(from: 2).count >= 1_495)
        #expect(owner.channel.signedRoster?.version == 2 && ben.channel.signedRoster?.version == 2)
    }

    /// The owner has put another key under Ben's name, which Cleo has compared before.
    @Test(arguments: RelayKind.allCases) func aChangedKeyIsNotHeardBeforeItIsCompared(with kind: RelayKind) throws {
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1))
        let ben = SignedFamily.member(1, speech: speech(from: 20))
        let cleo = SignedFamily.member(2, verified: [SignedFamily.name(1): SignedFamily.identities[3].key])
        let air = Airwaves([owner, ben, cleo], SignedFamily.relay(kind))
        air.run(seconds: 25)
        #expect(cleo.heard.isEmpty && cleo.discards[.changedKey] > 0)
        #expect(cleo.managedEvents.filter { $0 == .keyChanged(SignedFamily.name(1)) }.count == 1)
        #expect(owner.heard(from: 2).count == 100)
    }

    /// A member that may only listen has the talk link, and sends all the same.
    @Test func aListenerInTheRosterIsNotHeard() throws {
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1, roles: [1: .listen]))
        let ben = SignedFamily.member(1, speech: speech(from: 20))
        let cleo = SignedFamily.member(2)
        let air = Airwaves([owner, ben, cleo], relay)
        air.run(seconds: 25)
        #expect(cleo.heard.isEmpty && cleo.discards[.notAMember] > 0)
    }

    /// The secret changes while Ben talks: no packet is lost, and the epoch changes 2 s later.
    @Test func aChangeOfTheSecretIsNotHeard() throws {
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1))
        let ben = SignedFamily.member(1, speech: speech(from: 20, count: 200_000))
        let cleo = SignedFamily.member(2)
        let air = Airwaves([owner, ben, cleo], relay)
        air.run(seconds: 4_000)
        #expect(cleo.managedEvents.filter { $0 == .secretChanged(signer: 0) }.count == 2)
        #expect(cleo.heard(from: 2).count >= 198_990)
    }

    /// Others have a newer group secret: their announcements seem forged, and are not.
    @Test func announcementsUnderAnUnknownSecretAreNoInterference() throws {
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1))
        let cleo = SignedFamily.member(2)
        let air = Airwaves([owner, SignedFamily.member(1), cleo], relay)
        air.run(seconds: 20)
        for number in 0..<100 {
            let epoch = Epoch(at: Airwaves.clock(at: air.now), random: UInt128(number))
            let content = AnnouncedEpoch(
                suite: .aesCounterMode, ssrc: SSRC(UInt32(100 + number)), epoch: epoch,
                index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0)), at: Airwaves.clock(at: air.now))
            let announcement = SignedAnnouncement(
                content, rosterVersion: 1, index: 1, by: SignedFamily.identities[1], channelID: SignedFamily.channelID,
                under: Family.stranger.mediaRoot)
            let datagram = [UInt8](capacity: 136) {
                ControlPacket.write(signedAnnouncement: announcement.bytes.span, into: &$0)
            }
            #expect(air.inject(datagram, to: 2) == .discarded(.forged))
            air.run(seconds: 0.05)
        }
        #expect(cleo.channel.interferenceCount == 0)
    }

    @Test func aMemberComesBackWithItsFileWhileTheOwnerIsAway() throws {
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1))
        let ben = SignedFamily.member(1, speech: speech(from: 60))
        let air = Airwaves([owner, ben, SignedFamily.member(2)], relay)
        air.run(seconds: 20)
        owner.leave(at: air.now)
        air.flush(0)
        let cleo = air.members[2]
        cleo.leave(at: air.now)
        air.flush(2)
        air.run(seconds: 5)
        try relay.restart()
        let file = try #require(cleo.disk)
        air.replace(2, by: SignedFamily.member(2, file: file, at: air.now))
        air.run(seconds: 45)
        #expect(air.members[2].heard(from: 2).count == 100)
    }
}
