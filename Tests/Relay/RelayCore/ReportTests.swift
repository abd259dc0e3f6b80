import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// Reports of members end at the relay, which combines them into its own.
struct ReportTests {
    private let family = ChannelKeys.drawn("family")
    private let room: RelayHarness
    private let talker: SimulatedMember
    private let listener: SimulatedMember

    init() {
        (room, talker, listener) = RelayHarness.withTalkerAndListener(of: family)
    }

    /// Sends packets of the talker, fifty a second, except those for which `isLost` is true. Returns all of them
    /// without hop tags.
    @discardableResult
    private func speak(_ count: Int, isLost: (Int) -> Bool = { _ in false }) -> [[UInt8]] {
        var sent: [[UInt8]] = []
        for number in 0..<count {
            let packet = talker.packet()
            sent.append(packet)
            if !isLost(number) { room.receive(talker.tagged(packet), from: talker.endpoint) }
            room.run(.milliseconds(20))
        }
        return sent
    }

    @Test func aRetransmissionGoesOnlyToTheListenerThatAsked() {
        let other = SimulatedMember(family, .listen, at: .host(3))
        other.join(room)
        let sent = speak(20)
        room.inbox = [:]
        listener.ask(room, for: [sent[15], sent[17]], of: talker)
        #expect(room.take(listener.endpoint) == [sent[15], sent[17]])
        #expect(room.inbox.isEmpty)
        #expect(room.relay.status.channels[0].retransmittedCount == 2)
        // Packets older than half a second are not retransmitted, nor are packets that were never sent.
        room.run(.milliseconds(500))
        listener.ask(room, for: [sent[15]], of: talker)
        listener.ask(room, for: [talker.packet()], of: talker)
        #expect(room.take(listener.endpoint).isEmpty)
    }

    @Test func askingForEverythingBringsHalfAsMuchAgain() {
        var retransmittedCount = 0
        for _ in 0..<40 {
            let sent = speak(25)
            for _ in 0..<20 { listener.ask(room, for: sent, of: talker) }
            retransmittedCount += room.take(listener.endpoint).count { $0.count == 100 }
        }
        // Half of the thousand packets, and a saved burst of fifty.
        #expect((530...551).contains(retransmittedCount))
    }

    @Test func aPacketThatComesTwiceGoesOutOnce() {
        let sent = speak(20)
        #expect(room.receive(talker.tagged(sent[15]), from: talker.endpoint) == .handled)
        #expect(room.relay.status.channels[0].forwardedCount == 21)
    }

    @Test func oneClockAReportIsAnsweredAndAFewASecond() {
        speak(5)
        room.inbox = [:]
        let times = (0..<60).map { ExtendedReport.Block.referenceTime(NTPTime(rawValue: UInt64($0) << 32)) }
        let ask = { [listener, room] in
            _ = listener.report(room) { ExtendedReport(sender: listener.ssrc, blocks: times).write(into: &$0) }
            return listener.reports(room).count
        }
        #expect(ask() == 1)
        #expect((0..<40).reduce(0) { count, _ in count + ask() } == 7)
        room.now = room.now + .seconds(1)
        #expect((0..<40).reduce(0) { count, _ in count + ask() } == 4)
    }

    @Test func membersOfOtherChannelsAndTheTalkerItselfGetNothing() {
        let sent = speak(5)
        room.inbox = [:]
        talker.ask(room, for: sent, of: talker)
        #expect(talker.records(room).others.isEmpty)
    }

    @Test func theTalkerIsAskedOnceForWhatTheRelayMisses() {
        let sent = speak(60) { (40..<43).contains($0) }
        let questions = talker.reports(room).flatMap(\.questions)
        #expect(questions.flatMap(\.sequenceNumbers) == sent[40..<43].map(RelayHarness.sequenceNumber))
        #expect(questions.allSatisfy { $0.media == talker.ssrc })
        // The late packet goes to all members.
        #expect(
            room.receive(talker.tagged(sent[41]), from: talker.endpoint)
                == .forward(.media, byteCount: 100, channel: 0, talker: 0))
        listener.ask(room, for: [sent[41]], of: talker)
        #expect(room.take(listener.endpoint).contains(sent[41]))
        #expect(room.relay.status.channels[0].requestedCount == 3)
    }

    @Test func latePacketsAndLongGapsAreNotRequested() {
        var sent = speak(5)
        let late = talker.packet()
        sent.append(talker.packet())
        room.receive(talker.tagged(sent[5]), from: talker.endpoint)
        room.run(.milliseconds(9))
        room.receive(talker.tagged(late), from: talker.endpoint)
        room.run(.milliseconds(11))
        speak(10)
        speak(70) { $0 < 65 }
        #expect(talker.reports(room).flatMap(\.questions).isEmpty)
    }

    @Test func theTalkerHearsOnceASecondHowItsLineIs() throws {
        talker.report(room) {
            SenderReport(
                ssrc: talker.ssrc, time: NTPTime(rawValue: 0x1234_5678_9ABC_0000), timestamp: RTPTimestamp(rawValue: 0),
                packetCount: 0, octetCount: 0
            ).write(into: &$0)
        }
        speak(1)
        talker.report(room) {
            SenderReport(
                ssrc: talker.ssrc, time: NTPTime(rawValue: 0x1234_5678_9ABC_0000), timestamp: RTPTimestamp(rawValue: 0),
                packetCount: 0, octetCount: 0
            ).write(into: &$0)
        }
        speak(250)
        let reports = talker.reports(room)
        #expect((5...6).contains(reports.count))
        let block = try #require(reports.first?.blocks(about: talker.ssrc).first)
        #expect(block.lastSenderReport == ShortNTPTime(rawValue: 0x5678_9ABC))
        #expect(abs((block.delaySinceLastSenderReport - .milliseconds(180)) / .milliseconds(1)) < 1)
        #expect(block.fractionLost == 0)
        speak(250) { $0 % 10 == 0 }
        let lossy = talker.reports(room).filter { $0.questions.isEmpty }
        #expect((9...11).contains(lossy.count))
        #expect(lossy.dropFirst(2).allSatisfy { (15...40).contains($0.blocks(about: talker.ssrc)[0].fractionLost) })
    }

    /// Sends a report of each member with its fraction lost. Returns the fraction lost that the relay reports to the
    /// talker.
    private func verdict(_ members: [(SimulatedMember, UInt8)], after silence: Duration = .zero) -> UInt8? {
        for (member, fractionLost) in members {
            member.report(room) {
                ReceiverReport(
                    ssrc: member.ssrc,
                    blocks: [
                        ReportBlock(
                            ssrc: talker.ssrc, fractionLost: fractionLost, cumulativeLost: 0,
                            extendedHighestSequenceNumber: 0, jitter: .zero, lastSenderReport: nil,
                            delaySinceLastSenderReport: .zero)
                    ]
                ).write(into: &$0)
                SourceDescription(ssrc: member.ssrc, canonicalName: "x").write(into: &$0)
            }
        }
        _ = talker.reports(room)
        room.run(silence)
        speak(60)
        guard let report = talker.reports(room).last, report.receiverReports.count == 2 else { return nil }
        return report.receiverReports[1].blocks.first?.fractionLost
    }

    private func join(_ count: Int, at endpoint: (Int) -> Endpoint) -> [SimulatedMember] {
        (0..<count).map { number in
            let member = SimulatedMember(family, .listen, at: endpoint(number))
            member.join(room)
            return member
        }
    }

    @Test func oneLiarAmongTwentyChangesNothing() {
        speak(10)
        let members = join(20) { .host(10 + $0) }
        #expect(verdict(members.map { ($0, 13) }) == 13)
        #expect(verdict(members.enumerated().map { ($1, $0 == 7 ? 255 : 13) }) == 13)
        #expect(verdict(members.enumerated().map { ($1, $0 == 7 ? 0 : 13) }) == 13)
        // The relay reports the 90th percentile, which three of twenty members raise.
        #expect(verdict(members.enumerated().map { ($1, $0 < 3 ? 90 : 13) }) == 90)
    }

    @Test func lossesOfListenersAreAddedUp() throws {
        speak(60)
        var counts: [Int] = []
        for _ in 0..<4 {
            // The reported fraction lost is 64/256, a quarter.
            _ = verdict([(listener, 64)])
            speak(60)
            let report = try #require(talker.reports(room).last)
            counts.append(try #require(report.receiverReports.last?.blocks.first).cumulativeLost)
        }
        // A quarter of the 120 packets of each round.
        for (count, next) in zip(counts, counts.dropFirst()) { #expect((25...35).contains(next - count), "\(counts)") }
    }

    private var lastOfItsLine: ReportBlock? {
        talker.reports(room).compactMap { $0.blocks(about: talker.ssrc).first }.last
    }

    @Test func countsGoOnWhenATalkerComesBackAfterAPause() throws {
        speak(500) { $0 % 10 == 5 }
        let before = try #require(lastOfItsLine)
        #expect((40...50).contains(before.cumulativeLost))
        for _ in 0..<2 {
            room.run(.seconds(8))
            for member in [talker, listener] { member.renew(room) }
        }
        #expect(room.relay.status.channels[0].talkerCount == 0)
        _ = talker.reports(room)
        talker.announce(room)
        speak(100)
        let after = try #require(lastOfItsLine)
        #expect(after.cumulativeLost >= before.cumulativeLost && after.cumulativeLost <= 51, "\(after.cumulativeLost)")
        #expect(after.fractionLost == 0)
        // Another SSRC is another stream, whose counts begin at zero.
        talker.ssrc = SSRC(talker.ssrc.rawValue ^ 1)
        talker.announce(room)
        speak(100)
        let other = try #require(lastOfItsLine)
        #expect(other.cumulativeLost == 0)
    }

    @Test func aHundredTalkersOnOneConnectionHaveOneSlot() {
        speak(10)
        let many = join(100) { Endpoint(.v4(0x0B00_0001 + UInt32($0)), port: 40_000) }
        let few = join(19) { .host(10 + $0) }
        #expect(verdict(many.map { ($0, 255) } + few.map { ($0, 5) }) == 5)
        // If all members share one connection, the majority of its reports counts.
        for member in few { member.say(.leave, room) }
        #expect(verdict(many.enumerated().map { ($1, $0 < 40 ? 255 : 7) }) == 7)
    }

    @Test func oldReportsAndThoseOfFormerListenersDoNotCount() {
        speak(10)
        #expect(verdict([(listener, 100)]) == 100)
        #expect(verdict([]) == 100)
        #expect(verdict([], after: .seconds(17)) == nil)
        #expect(verdict([(listener, 90)]) == 90)
        listener.say(.leave, room)
        #expect(verdict([]) == nil)
    }

    @Test func aListenersClockComesBackFromWhomItHears() throws {
        speak(2)
        talker.report(room) {
            SourceDescription(ssrc: talker.ssrc, canonicalName: "x", name: "Anna").write(into: &$0)
        }
        room.inbox = [:]
        listener.report(room) {
            ReceiverReport(ssrc: listener.ssrc).write(into: &$0)
            ExtendedReport(sender: listener.ssrc, blocks: [.referenceTime(NTPTime(rawValue: 0x0000_1111_2222_0000))])
                .write(into: &$0)
        }
        let report = try #require(listener.reports(room).first)
        let echo = ExtendedReport.Block.echoes([
            TimeEcho(teller: listener.ssrc, time: ShortNTPTime(rawValue: 0x1111_2222), delay: .zero)
        ])
        #expect(report.packets.contains(.extendedReport(ExtendedReport(sender: talker.ssrc, blocks: [echo]))))
        let chunks = report.packets.flatMap { packet -> [SourceDescription.Chunk] in
            if case .sourceDescription(let description) = packet { description.chunks } else { [] }
        }
        let chunk = try #require(chunks.first)
        #expect(chunk[.name]?.text == "Anna" && chunk.ssrc == talker.ssrc)
        // A compound packet has a CNAME (RFC 3550 section 6.1).
        #expect(chunk[.canonicalName]?.text == "relay")
    }

    @Test func reportsThatCannotBeReadAreCounted() {
        #expect(listener.report(room) { $0.append(repeating: 0, count: 8) } == .discarded(.malformedRecord))
        #expect(listener.say(.goodbye(.full), room) == .discarded(.malformedRecord))
        #expect(room.relay.status.discards[.malformedRecord] == 2)
    }
}
