import TenfourAudioCore
import TenfourChannelKeys
import TenfourFloor
import TenfourPackets
import TenfourRelayCore
import TestSupport
import Testing

/// The floor of a channel through a relay: who is granted it, and whose media is dropped.
struct FloorRecordTests {
    private let room: RelayHarness
    private let anna, ben, listener, older: SimulatedMember

    init() {
        let family = ChannelKeys.drawn("family")
        var configuration = RelayConfiguration([family])
        configuration.channels[0].floor = .init(isRequired: true, longestTalk: .seconds(20))
        room = RelayHarness(configuration)
        anna = SimulatedMember(family, .talk, at: .host(1))
        ben = SimulatedMember(family, .talk, at: .host(2))
        listener = SimulatedMember(family, .listen, at: .host(3))
        older = SimulatedMember(family, .talk, at: .host(4))
        _ = anna.join(room) && ben.join(room) && listener.join(room) && older.join(room)
        for talker in [anna, ben, older] { talker.announce(room) }
        room.inbox = [:]
    }

    private func request(
        _ member: SimulatedMember, _ number: UInt32, _ priority: FloorPriority = .normal, ssrc: SSRC? = nil,
        sends: Bool = false
    ) {
        member.say(.floor(.request(number: number, ssrc ?? member.ssrc, priority, waits: false, sends: sends)), room)
    }

    /// The messages about the floor that a member has received since the last time.
    private func messages(_ member: SimulatedMember) -> [FloorMessage] {
        member.records(room).records.compactMap { record in
            if case .floor(let message) = record { message } else { nil }
        }
    }

    private func isForwarded(_ reception: Relay.Reception) -> Bool {
        if case .forward = reception { true } else { false }
    }

    @Test func oneTalksAndMediaOfTheOtherIsDropped() {
        request(anna, 1)
        let granted = FloorMessage.granted(
            number: 1, anna.ssrc, .normal, FloorRevision(term: 1, state: 1), time: 20_000, mustAnswer: false)
        #expect(messages(anna).contains(granted))
        request(ben, 1)
        let denied = FloorMessage.denied(
            number: 1, .anotherTalks, talker: anna.ssrc, .normal, FloorRevision(term: 1, state: 1), time: 0)
        #expect(messages(ben).contains(denied))
        #expect(isForwarded(anna.talk(room)))
        #expect(ben.talk(room) == .discarded(.withoutFloor))
        #expect(room.relay.status.channels[0].floor?.talker == anna.ssrc)
        #expect(room.relay.status.discards[.withoutFloor] == 1)
        anna.say(.floor(.release(number: 1, anna.ssrc)), room)
        #expect(messages(ben).contains(.idle(answering: 0, FloorRevision(term: 1, state: 2), .isRequired)))
        request(ben, 2)
        #expect(isForwarded(ben.talk(room)))
        #expect(anna.talk(room) == .discarded(.withoutFloor))
    }

    @Test func theFloorOfAMemberThatVanishesOrLeavesIsIdle() {
        request(anna, 1)
        room.run(.milliseconds(1_500))
        #expect(room.relay.status.channels[0].floor?.talker == nil)
        request(anna, 2)
        #expect(room.relay.status.channels[0].floor?.talker == anna.ssrc)
        anna.say(.leave, room)
        #expect(room.relay.status.channels[0].floor?.talker == nil)
        request(ben, 1)
        #expect(room.relay.status.channels[0].floor?.talker == ben.ssrc)
    }

    @Test func mediaKeepsTheFloorAndTheTalkerHearsThatItHasIt() {
        request(anna, 1)
        for _ in 0..<250 {
            anna.talk(room)
            room.run(.milliseconds(20))
        }
        #expect(room.relay.status.channels[0].floor?.talker == anna.ssrc)
        let grants = messages(anna).count { if case .granted = $0 { true } else { false } }
        #expect((75...101).contains(grants))
        room.run(.seconds(2))
        #expect(room.relay.status.channels[0].floor?.talker == nil)
    }

    @Test func anOlderMemberTalksWhileNobodyElseDoesAndIsToldOtherwise() {
        #expect(isForwarded(older.talk(room)))
        #expect(room.relay.status.channels[0].floor?.talker == older.ssrc)
        request(anna, 1)
        #expect(room.relay.status.channels[0].floor?.talker == older.ssrc)
        room.run(.milliseconds(510))
        request(anna, 2)
        #expect(room.relay.status.channels[0].floor?.talker == anna.ssrc)
        _ = older.records(room)
        #expect(older.talk(room) == .discarded(.withoutFloor))
        // It is sent no record that it does not know.
        #expect(older.records(room).records == [.limited(packetsPerSecond: 0, bitsPerSecond: 0)])
    }

    /// Media under an SSRC that a member has not announced is none of the floor's.
    @Test(arguments: [SSRC(4_711), nil]) func garbageDoesNotTakeTheFloor(ssrc: SSRC?) {
        listener.say(.floor(.queuePositionRequest(number: 0, listener.ssrc)), room)
        _ = messages(listener)
        let garbage = older.tagged(older.packet(ssrc ?? anna.ssrc, byteCount: 40))
        #expect(room.receive(garbage, from: older.endpoint) == .discarded(.unannounced))
        #expect(room.relay.status.channels[0].floor?.talker == nil)
        let short = older.tagged(older.packet(byteCount: RTPHeader.byteCount + 10))
        #expect(room.receive(short, from: older.endpoint) == .discarded(.malformedMedia))
        #expect(room.relay.status.channels[0].floor?.talker == nil)
        request(anna, 1)
        #expect(isForwarded(anna.talk(room)))
        let told = messages(listener).compactMap { if case .taken(_, let ssrc, _, _, _, _) = $0 { ssrc } else { nil } }
        #expect(Set(told) == [anna.ssrc])
    }

    @Test func aTalkerThatKnowsNoFloorControlHasTheSameLongestTalk() {
        var forwardedCount = 0
        for _ in 0..<50 * 25 {
            if isForwarded(older.talk(room)) { forwardedCount += 1 }
            room.run(.milliseconds(20))
        }
        #expect((50 * 20...50 * 20 + 1).contains(forwardedCount), "20 s, and not again while it goes on")
        request(anna, 1)
        #expect(isForwarded(anna.talk(room)))
        anna.say(.floor(.release(number: 1, anna.ssrc)), room)
        room.run(.milliseconds(510))
        #expect(isForwarded(older.talk(room)), "it was silent")
    }

    /// A station that hears of the idle floor first asks again, and never learns why its turn has ended.
    @Test(arguments: 0..<6) func aTalkerHearsOfItsRevocationBeforeTheIdleFloor(denialCount: UInt32) throws {
        request(anna, 1)
        for number in 0..<denialCount { request(ben, number + 1) }
        for _ in 0..<19 {
            _ = anna.talk(room)
            room.run(.seconds(1))
        }
        _ = messages(anna)
        _ = anna.talk(room)
        room.run(.milliseconds(1_400))
        let told = messages(anna)
        let end = try #require(told.firstIndex { if case .revoke = $0 { true } else { false } })
        let idle = try #require(told.firstIndex { if case .idle = $0 { true } else { false } })
        #expect(end < idle, "\(told)")
    }

    @Test func aListenerIsDeniedAndIsToldWhoTalks() {
        listener.say(.floor(.queuePositionRequest(number: 0, listener.ssrc)), room)
        #expect(messages(listener).contains(.idle(answering: 0, FloorRevision(term: 1, state: 0), .isRequired)))
        request(listener, 1)
        let denied = FloorMessage.denied(
            number: 1, .mayOnlyListen, talker: nil, .normal, FloorRevision(term: 1, state: 0), time: 0)
        #expect(messages(listener).contains(denied))
        request(anna, 1)
        guard case .taken(0, anna.ssrc, .normal, _, _, .isRequired)? = messages(listener).last else {
            Issue.record("not told")
            return
        }
    }

    @Test func membersThatBreakTheRulesAreBoundedAndNamed() {
        // Anna never releases. Ben claims her SSRC, floods requests, and talks without the floor.
        for _ in 0..<210 {
            request(anna, 1, sends: true)
            room.run(.milliseconds(100))
        }
        #expect(room.relay.status.channels[0].floor?.talker == nil)
        request(ben, 1, ssrc: anna.ssrc)
        #expect(room.relay.status.channels[0].floor?.talker == nil)
        for number: UInt32 in 2..<500 {
            request(ben, number, .emergency, ssrc: anna.ssrc)
            ben.talk(room)
            if number % 20 == 0 { room.run(.milliseconds(100)) }
        }
        room.run(.seconds(3))
        let offenders = room.relay.status.channels[0].floor?.offenders ?? []
        #expect(Set(offenders.map(\.member)) == [1, 2])
        let (first, second) = (offenders.first { $0.member == 1 }, offenders.first { $0.member == 2 })
        #expect(first?.counts.overlongCount == 1)
        #expect((second?.counts.foreignSSRCCount ?? 0) > 20)
        #expect((second?.counts.unpermittedPacketCount ?? 0) > 20)
        request(anna, 2)
        #expect(room.relay.status.channels[0].floor?.talker == anna.ssrc)
    }

    /// A relay whose channel has floor control, and does not require it.
    private static func optional() -> RelayHarness {
        var configuration = RelayConfiguration([ChannelKeys.drawn("other")])
        configuration.channels[0].floor = .init()
        return RelayHarness(configuration)
    }

    @Test func aChannelThatDoesNotRequireTheFloorForwardsEverybody() {
        let room = Self.optional()
        let (one, two) = (
            SimulatedMember(.drawn("other"), .talk, at: .host(1)), SimulatedMember(.drawn("other"), .talk, at: .host(2))
        )
        _ = one.join(room) && two.join(room)
        for member in [one, two] { member.announce(room) }
        #expect(isForwarded(one.talk(room)))
        #expect(room.relay.status.channels[0].floor == nil)
        one.say(.floor(.request(number: 1, one.ssrc, .normal, waits: false, sends: false)), room)
        #expect(room.relay.status.channels[0].floor?.talker == one.ssrc)
        #expect(isForwarded(two.talk(room)))
    }

    @Test func oneThatOnlyAskedIsToldWhoTalksLater() {
        let room = Self.optional()
        let (one, two) = (
            SimulatedMember(.drawn("other"), .talk, at: .host(1)), SimulatedMember(.drawn("other"), .talk, at: .host(2))
        )
        _ = one.join(room) && two.join(room)
        room.inbox = [:]
        func messages(_ member: SimulatedMember) -> [FloorMessage] {
            member.records(room).records.compactMap { if case .floor(let message) = $0 { message } else { nil } }
        }
        two.say(.floor(.queuePositionRequest(number: 0, two.ssrc)), room)
        #expect(messages(two) == [.idle(answering: 0, FloorRevision(term: 1, state: 0), [])])
        #expect(room.relay.status.channels[0].floor == nil, "nobody has requested the floor yet")
        one.say(.floor(.request(number: 1, one.ssrc, .normal, waits: false, sends: false)), room)
        #expect(messages(two).contains { if case .taken(_, one.ssrc, _, _, _, _) = $0 { true } else { false } })
    }

    @Test func aReloadedChannelKeepsItsTalker() {
        request(anna, 1)
        var configuration = RelayConfiguration([ChannelKeys.drawn("family")])
        configuration.channels[0].floor = .init(isRequired: false)
        room.reload(configuration)
        #expect(room.relay.status.channels[0].floor?.talker == anna.ssrc)
        #expect(isForwarded(ben.talk(room)))
    }
}
