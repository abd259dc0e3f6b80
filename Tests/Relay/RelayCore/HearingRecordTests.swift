import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRelayCore

/// Whom a relay asks how it receives a talker, whom it believes, and what it states to the talker.
struct HearingRecordTests {
    private let family = ChannelKeys.drawn("family")

    private func room(_ count: Int) -> (RelayHarness, talker: SimulatedMember, listeners: [SimulatedMember]) {
        let room = RelayHarness([family])
        let talker = SimulatedMember(family, .talk, at: .host(1))
        let listeners = (0..<count).map { SimulatedMember(family, .listen, at: .host(2 + $0)) }
        _ = talker.join(room)
        talker.announce(room)
        for listener in listeners { _ = listener.join(room) }
        for member in [talker] + listeners where member.session != nil {
            member.say(.hearing(HearingReport(output: .playing)), room)
        }
        room.inbox = [:]
        return (room, talker, listeners)
    }

    /// Talks for a time, with a packet each 20 ms.
    private func talk(_ talker: SimulatedMember, _ room: RelayHarness, _ duration: Duration) {
        for _ in 0..<Int(duration / .milliseconds(20)) {
            _ = talker.talk(room)
            room.run(.milliseconds(20))
        }
    }

    private func requests(_ member: SimulatedMember, _ room: RelayHarness) -> [HearingRequest] {
        member.records(room).records.compactMap { if case .hearingRequest(let request) = $0 { request } else { nil } }
    }

    private func lists(_ member: SimulatedMember, _ room: RelayHarness) -> [HearingList] {
        member.records(room).records.compactMap { if case .hearingList(let list) = $0 { list } else { nil } }
    }

    private func report(
        on talker: SSRC, highest: UInt16 = 65_535, isUrgent: Bool = false, _ output: StationStatus.Output = .playing
    ) -> Record {
        .hearing(
            HearingReport(
                output: output, isUrgent: isUrgent,
                playouts: [
                    StationStatus.Playout(
                        source: talker, missingShare: 0.2, highestSequenceNumber: SequenceNumber(rawValue: highest))
                ]))
    }

    @Test func allOfAFewAreAskedWhileSomebodyTransmits() {
        let (room, talker, listeners) = room(3)
        room.run(.seconds(5))
        #expect(requests(listeners[0], room).isEmpty, "nobody transmits")
        talk(talker, room, .seconds(3))
        for listener in listeners {
            let requests = requests(listener, room)
            #expect((3...4).contains(requests.count))
            #expect(requests.allSatisfy { $0.talkers == [talker.ssrc] && $0.interval == .seconds(1) })
        }
        #expect(requests(talker, room).isEmpty, "the only talker is not asked about itself")
        room.run(.seconds(5))
        let last = requests(listeners[0], room)
        #expect(last.suffix(8).allSatisfy(\.talkers.isEmpty) && (8...10).contains(last.count))
        room.run(.seconds(20))
        #expect(requests(listeners[0], room).isEmpty)
    }

    /// Of many talkers eight are asked about.
    @Test(arguments: [8, 9, 40]) func requestsAreNoMoreOftenWithManyTalkers(count: Int) {
        var hearing = ChannelHearing()
        hearing.ask([MemberID(100)], isSample: false, at: .start)
        var requests: [HearingRequest] = []
        for step in 0..<300 {
            let now = Instant.start + .milliseconds(10 * step)
            hearing.setTalkers((0..<count).map { (MemberID($0), SSRC(UInt32($0))) }, at: now)
            if let (request, _) = hearing.nextRequest(at: now) { requests.append(request) }
        }
        #expect(requests.count == 3 && requests.allSatisfy { $0.talkers.count == 8 })
    }

    /// Requests of one channel that wait, because the relay itself has just sent much, do not delay those of other channels.
    @Test func channelsDoNotDelayEachOther() {
        let keys = (0..<3).map { ChannelKeys.drawn("family \($0)") }
        let room = RelayHarness(keys)
        var hosts = 0
        let channels = keys.map { keys in
            let talker = SimulatedMember(keys, .talk, at: .host(hosts + 1))
            let listeners = (0..<20).map { SimulatedMember(keys, .listen, at: .host(hosts + 2 + $0)) }
            hosts += 30
            _ = talker.join(room)
            talker.announce(room)
            for listener in listeners { _ = listener.join(room) }
            for member in [talker] + listeners { member.say(.hearing(HearingReport(output: .playing)), room) }
            return (talker, listeners)
        }
        room.inbox = [:]
        for _ in 0..<5 {
            for (talker, _) in channels { _ = talker.talk(room) }
            room.run(.milliseconds(20))
        }
        for (_, listeners) in channels { #expect(listeners.allSatisfy { !requests($0, room).isEmpty }) }
    }

    @Test func aTalkerReadsTheLastAnswerOfEach() throws {
        let (room, talker, listeners) = room(3)
        talk(talker, room, .milliseconds(200))
        listeners[0].say(report(on: talker.ssrc, highest: 65_532), room)
        listeners[1].say(.hearing(HearingReport(output: .muted)), room)
        talk(talker, room, .milliseconds(100))
        let first = try #require(lists(talker, room).first)
        #expect(first.talker == talker.ssrc && first.memberCount == 3 && !first.entries.isEmpty)
        talk(talker, room, .seconds(2.5))
        let last = try #require(lists(talker, room).last)
        #expect(last.entries.count == 3)
        let statement = try #require(last.entries.first { $0.member == listeners[0].rosterNumber }?.statement)
        #expect(statement.output == .playing && statement.age >= .milliseconds(1_500))
        #expect(statement.playout?.highestSequenceNumber == SequenceNumber(rawValue: 65_532))
        let muted = last.entries.first { $0.member == listeners[1].rosterNumber }?.statement
        #expect(muted?.playout == nil)
        let silent = try #require(last.entries.first { $0.member == listeners[2].rosterNumber })
        #expect(silent.statement == nil, "it has never answered")
    }

    @Test func anUrgentAnswerReachesTheTalkerAtOnce() {
        let (room, talker, listeners) = room(1)
        talk(talker, room, .milliseconds(200))
        listeners[0].say(report(on: talker.ssrc), room)
        talk(talker, room, .milliseconds(500))
        #expect(lists(talker, room).count == 1)
        listeners[0].say(report(on: talker.ssrc, isUrgent: true), room)
        talk(talker, room, .milliseconds(40))
        #expect(lists(talker, room).count == 1)
        // A flood of them costs no more than two lists and a bit each second.
        for _ in 0..<40 {
            listeners[0].say(report(on: talker.ssrc, isUrgent: true), room)
            talk(talker, room, .milliseconds(60))
        }
        #expect((4...6).contains(lists(talker, room).count))
    }

    /// A member says things about itself, about others' SSRCs, and about SSRCs that nobody has.
    @Test func onlyEntriesAboutOtherTalkersCount() throws {
        let (room, talker, listeners) = room(1)
        let second = SimulatedMember(family, .talk, at: .host(90))
        _ = second.join(room)
        second.announce(room)
        second.say(.hearing(HearingReport(output: .playing)), room)
        talk(talker, room, .milliseconds(100))
        second.say(report(on: second.ssrc), room)
        listeners[0].say(report(on: SSRC(77)), room)
        talk(talker, room, .seconds(1.2))
        let list = try #require(lists(talker, room).last)
        #expect(list.entries.count == 2)
        #expect(list.entries.allSatisfy { $0.statement != nil && $0.statement?.playout == nil })
        #expect(lists(second, room).isEmpty, "it does not transmit")
    }

    /// Older members count records that they do not know as not decrypted: they are sent none.
    @Test func membersThatNeverSentOneAreNeitherAskedNorTold() {
        let room = RelayHarness([family])
        let (talker, listener) = (
            SimulatedMember(family, .talk, at: .host(1)), SimulatedMember(family, .listen, at: .host(2))
        )
        for member in [talker, listener] { _ = member.join(room) }
        talker.announce(room)
        room.inbox = [:]
        talk(talker, room, .seconds(3))
        #expect(requests(listener, room).isEmpty && lists(talker, room).isEmpty)
        listener.say(.hearing(HearingReport(output: .playing)), room)
        talk(talker, room, .seconds(3))
        #expect(requests(listener, room).isEmpty, "the talker cannot read the answers")
        talker.say(.hearing(HearingReport(output: .playing)), room)
        talk(talker, room, .seconds(3))
        #expect(!requests(listener, room).isEmpty && !lists(talker, room).isEmpty)
    }

    @Test func anAnswerWithoutARequestIsIgnored() {
        let (room, talker, listeners) = room(2)
        for _ in 0..<10 { listeners[0].say(report(on: talker.ssrc, isUrgent: true), room) }
        room.run(.seconds(2))
        #expect(lists(talker, room).isEmpty)
        // Members do not send what only relays send.
        let before = room.relay.status.discards[.malformedRecord]
        listeners[0].say(.hearingRequest(HearingRequest(talkers: [talker.ssrc])), room)
        listeners[0].say(.hearingList(HearingList(talker: talker.ssrc, memberCount: 1, entries: [])), room)
        #expect(room.relay.status.discards[.malformedRecord] == before + 2)
    }

    @Test func ofManyThirtyAreAskedAndOthersAreNotBelieved() throws {
        let (room, talker, listeners) = room(200)
        talk(talker, room, .milliseconds(100))
        let asked = listeners.filter { !requests($0, room).isEmpty }
        #expect((30...31).contains(asked.count))
        for listener in listeners { listener.say(report(on: talker.ssrc), room) }
        talk(talker, room, .milliseconds(1_100))
        let list = try #require(lists(talker, room).last)
        #expect(list.memberCount == 200 && list.entries.count == 30)
        #expect(Set(list.entries.map(\.member)).isSubset(of: asked.compactMap(\.rosterNumber)))
        // Another sample follows after ten seconds, and the lists never become longer.
        talk(talker, room, .seconds(13))
        let others = listeners.filter { !requests($0, room).isEmpty }
        #expect(others.count > 45 && others.count < 80)
        #expect(lists(talker, room).allSatisfy { $0.entries.count <= 30 })
    }

    /// Half of a thousand members state that nothing comes any more: the talker reads it of some of them within ten seconds,
    /// and what it reads takes at most five percent of what it sends.
    @Test func aTalkerToAThousandMembersReadsOfAFailure() throws {
        let (room, talker, listeners) = room(999)
        var highest = [UInt16](repeating: 0, count: listeners.count)
        var sentCount: UInt16 = 65_530
        let failure = 400
        var byteCounts = (media: 0, lists: 0)
        var readAt: Int?
        for step in 0..<1_000 {
            // With RTP, SRTP, hop tag, UDP and IP, 80 bytes are 142.
            byteCounts.media += 142
            _ = talker.talk(room)
            sentCount &+= 1
            room.run(.milliseconds(20))
            // Each states once a second what has come.
            for index in listeners.indices {
                if step < failure || index % 2 == 0 { highest[index] = sentCount }
                guard step % 50 == index % 50, !(room.inbox[listeners[index].endpoint] ?? []).isEmpty else { continue }
                listeners[index].say(report(on: talker.ssrc, highest: highest[index], isUrgent: step >= failure), room)
            }
            for list in lists(talker, room) {
                byteCounts.lists += 73 + 8 * list.entries.count
                let silent = list.entries.count { entry in
                    entry.statement?.playout.map { sentCount &- $0.highestSequenceNumber.rawValue > 75 } ?? false
                }
                if step >= failure, silent > 0 { readAt = readAt ?? step - failure }
            }
        }
        let read = try #require(readAt)
        #expect(read <= 500, "\(read) packets of 20 ms")
        #expect(Double(byteCounts.lists) <= 0.05 * Double(byteCounts.media), "\(byteCounts)")
        #expect(byteCounts.lists > 2_000)
    }

    @Test func whoLeavesIsListedNoMore() throws {
        let (room, talker, listeners) = room(3)
        talk(talker, room, .milliseconds(100))
        for listener in listeners { listener.say(report(on: talker.ssrc), room) }
        listeners[1].say(.leave, room)
        talk(talker, room, .milliseconds(1_500))
        let list = try #require(lists(talker, room).last)
        #expect(list.memberCount == 2)
        #expect(Set(list.entries.map(\.member)) == Set([listeners[0], listeners[2]].compactMap(\.rosterNumber)))
    }

    /// Listeners on pages and members at other relays cannot be asked.
    @Test func thoseWhoCannotBeAskedAreCounted() throws {
        let (room, talker, listeners) = room(2)
        room.setOtherListeners(5, of: "family")
        talk(talker, room, .milliseconds(100))
        for listener in listeners { listener.say(report(on: talker.ssrc), room) }
        talk(talker, room, .milliseconds(1_100))
        let list = try #require(lists(talker, room).last)
        #expect(list.memberCount == 7 && list.entries.count == 2)
    }
}

extension SimulatedMember {
    fileprivate var rosterNumber: UInt32? { number?.rosterNumber }
}
