import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// Roster updates, sent by a relay that cannot read the members' sealed information.
struct RosterTests {
    private let family = ChannelKeys.drawn("family")
    private let room: RelayHarness
    private let anna: TellingMember
    private let ben: TellingMember
    private let cleo: TellingMember

    init() {
        room = RelayHarness([family])
        anna = TellingMember("Anna", family, .talk, at: .host(1))
        ben = TellingMember("Ben", family, .talk, at: .host(2))
        cleo = TellingMember("Cleo", family, .listen, at: .host(3))
    }

    private func everybodyJoins() {
        for member in [anna, ben, cleo] { member.enter(room) }
        room.run(.seconds(2))
        for member in [anna, ben, cleo] { member.take(room) }
    }

    @Test func talkersAreListedAndListenersCounted() {
        everybodyJoins()
        for member in [anna, ben, cleo] {
            #expect(member.names == ["Anna", "Ben"])
            #expect(member.otherCount == 1)
        }
    }

    /// The relay looks only at the channels that have changed.
    @Test func rostersOfManyChannelsAreSent() {
        let channels = (0..<200).map { ChannelKeys.drawn("channel \($0)", seed: UInt64($0)) }
        let room = RelayHarness(channels)
        let members = channels.indices.map { TellingMember("Anna", channels[$0], .talk, at: .host($0 + 1)) }
        for member in members {
            member.enter(room)
            room.run(.milliseconds(1))
        }
        room.run(.milliseconds(60))
        for member in members { member.take(room) }
        #expect(members.allSatisfy { $0.names == ["Anna"] })
    }

    @Test func listenersThatAreNoMembersAreCountedWithThem() {
        everybodyJoins()
        room.setOtherListeners(5, of: "family")
        room.run(.milliseconds(1_050))
        for member in [anna, ben, cleo] { member.take(room) }
        #expect([anna, ben, cleo].map(\.otherCount) == [6, 6, 6])
        // Cleo is a gateway that nobody listens to.
        room.setOtherListeners(-1, of: "family")
        room.setOtherListeners(9, of: "other")
        room.run(.milliseconds(1_050))
        anna.take(room)
        #expect(anna.otherCount == 0)
    }

    @Test func anOpenedMicrophoneAndALeaveAreReportedWithinASecond() {
        everybodyJoins()
        anna.tell(room, .open)
        ben.member.say(.leave, room)
        room.run(.milliseconds(1_050))
        cleo.take(room)
        #expect(cleo.names == ["Anna"])
        #expect(cleo.infos["Anna"]?.microphone == .open)
    }

    @Test func theRelayPassesOnWhatItCannotRead() throws {
        everybodyJoins()
        let other = ChannelKeys.drawn("other", seed: 8)
        let sealed = try #require(cleo.entries.values.compactMap { $0 }.first)
        #expect(sealed.opened(under: family.mediaRoot) != nil)
        #expect(sealed.opened(under: other.mediaRoot) == nil)
        // Information sealed under a key of another channel is passed on as well, but no member can open it.
        let forged = SealedMemberInfo(
            MemberInfo(name: "Eve", microphone: .open, ssrc: SSRC(1), joined: 0, microphoneChanged: 0), id: 77,
            counter: 1,
            under: other.mediaRoot)
        ben.member.say(.info(forged), room)
        room.run(.seconds(1))
        cleo.take(room)
        #expect(cleo.entries.values.contains { $0?.id == 77 })
        #expect(cleo.names == ["Anna"])
    }

    @Test func aStationOfTheVersionBeforeIsListedAndToldNothing() {
        let old = SimulatedMember(family, .talk, at: .host(4))
        old.join(room)
        everybodyJoins()
        #expect(cleo.names == ["Anna", "Ben"])
        #expect(cleo.entries.values.filter { $0 == nil }.count == 1)
        room.run(.seconds(5))
        let told = old.records(room).records.filter { if case .renewed = $0 { false } else { true } }
        #expect(told.isEmpty)
        // It can also talk and be forwarded.
        old.announce(room)
        guard case .forward = old.talk(room) else { return #expect(Bool(false)) }
    }

    @Test func aThousandListenersMakeAFewRecordsForEach() {
        var limits = RelayLimits()
        limits.channelMembers = 2_000
        let room = RelayHarness([family], limits: limits)
        anna.enter(room)
        let first = TellingMember("First", family, .listen, at: .host(4))
        first.enter(room)
        room.run(.seconds(2))
        _ = (room.take(first.member.endpoint), room.take(anna.member.endpoint))
        var bytes = 0
        // A thousand members join within ten seconds.
        for number in 0..<1_000 {
            let listener = TellingMember("L\(number)", family, .listen, at: .host(10 + number))
            listener.enter(room)
            room.run(.milliseconds(10))
        }
        let told = room.take(first.member.endpoint)
        bytes = told.reduce(0) { $0 + $1.count }
        #expect((3...11).contains(told.count), "\(told.count)")
        #expect(bytes <= 11 * 60, "\(bytes)")
        anna.take(room)
        room.run(.seconds(2))
        anna.take(room)
        #expect(anna.otherCount == 1_001)
    }

    @Test func manyTalkersComeInSliceBySlice() {
        cleo.enter(room)
        let talkers = (0..<40).map { TellingMember("T\($0)", family, .talk, at: .host(10 + $0)) }
        for talker in talkers { talker.enter(room) }
        room.run(.seconds(6))
        cleo.take(room)
        // 32 members are listed, the others are counted.
        #expect(cleo.names.count == Roster.maximumListedCount)
        #expect(cleo.otherCount == 1 + 8)
        #expect(cleo.largest <= Roster.maximumEntryCount)
        // A free slot of the list is given to a member that has been counted only.
        talkers[0].member.say(.leave, room)
        talkers[39].member.renew(room)
        talkers[39].member.renew(room)
        room.run(.seconds(2))
        cleo.take(room)
        #expect(cleo.names.contains("T39") && !cleo.names.contains("T0"))
        #expect(cleo.otherCount == 1 + 7)
    }

    @Test func listenersAreNamedOnRequestFiftyAtATime() {
        for number in 0..<63 {
            TellingMember("L\(number)", family, .listen, at: .host(10 + number)).enter(room)
        }
        let silent = TellingMember(nil, family, .listen, at: .host(90))
        silent.enter(room)
        cleo.enter(room)
        room.run(.seconds(2))
        cleo.take(room)
        #expect(cleo.otherCount == 65)
        let first = cleo.page(room, .others, from: 0)
        #expect(first.entries.count == 50 && first.total == 64 && first.largest <= Roster.maximumEntryCount)
        let second = cleo.page(room, .others, from: 50)
        #expect(second.entries.count == 14)
        let names = Set((first.entries + second.entries).compactMap { $0.opened(under: family.mediaRoot)?.name })
        #expect(names.count == 64 && names.contains("Cleo") && names.contains("L62"))
        #expect(cleo.page(room, .others, from: 5_000).entries.isEmpty)
    }

    @Test func onlyWhoStillReceivesWhereItWasGetsAPage() {
        everybodyJoins()
        #expect(
            cleo.member.say(.rosterRequest(.listed, position: 0, receipt: 12), room) == .discarded(.staleReceipt))
        let request = Record.rosterRequest(.listed, position: 0, receipt: cleo.member.receipt)
        #expect(cleo.member.say(request, room, from: .host(60)) == .discarded(.staleReceipt))
        #expect(cleo.member.say(request, room) == .handled)
        var handledCount = 0
        for _ in 0..<100 where cleo.member.say(request, room) == .handled { handledCount += 1 }
        #expect(handledCount < 10)
    }

    @Test func theReplyToAMemberRecordIsShorterThanIt() {
        everybodyJoins()
        _ = room.take(anna.member.endpoint)
        let before = room.bytesIn
        anna.tell(room, .open)
        #expect(room.take(anna.member.endpoint).reduce(0) { $0 + $1.count } <= room.bytesIn - before)
    }

    @Test func aMemberWithoutANameGetsTheWholeRosterAndAddsNoEntry() {
        let silent = TellingMember(nil, family, .listen, at: .host(5))
        silent.enter(room)
        everybodyJoins()
        room.run(.seconds(1))
        silent.take(room)
        #expect(silent.names == ["Anna", "Ben"])
        #expect(silent.otherCount == 2)
        #expect(cleo.page(room, .others, from: 0).total == 1)
    }

    @Test func oneThatJoinsAgainFromWhereItWasIsWhoItWas() {
        everybodyJoins()
        anna.member.join(room)
        room.run(.seconds(1))
        cleo.take(room)
        #expect(cleo.names == ["Anna", "Ben"])
        #expect(cleo.entries.count == 2)
    }

    @Test func oneWhoseLeaseIsOverIsGone() {
        everybodyJoins()
        room.run(.seconds(20))
        for member in [ben, cleo] { member.member.renew(room) }
        room.run(.seconds(9))
        cleo.take(room)
        #expect(cleo.names == ["Ben"])
    }
}
