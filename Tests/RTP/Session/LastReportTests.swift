import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// The reports at the end of a call: both ends know the same number of lost packets.
struct LastReportTests {
    /// A call in which the left end talks and then leaves.
    private final class Call {
        let link: SimulatedLink
        /// The receiver's counts while it still knew the talker.
        private(set) var lostCount = 0
        private(set) var receivedCount = 0
        /// The number of packets that were lost before the first one that arrived.
        private(set) var firstCount = 0
        /// When the left end had left, and when it had all reports; in seconds.
        private(set) var left = 0.0
        private(set) var ended = 0.0

        init(_ network: NetworkModel, _ protection: LossProtectionConfiguration.Mode = .off, seed: UInt64) {
            link = ProtectedLink.link(network, protection, protection, seed: seed)
            link.left.speech = Speech(byteCount: 80)
        }

        func run(until end: Double) {
            while Double(link.now.nanoseconds) / 1e9 < end - 0.0001 { step(.milliseconds(5)) }
        }

        /// Leaves, and waits for the last reports. What is decided by `drops` does not arrive meanwhile.
        func leave(dropping drops: ((_ sender: Int, _ byteCount: Int) -> Bool)? = nil) {
            let old = link.firewall
            if let drops { link.firewall = { sender, _, count in !drops(sender, count) } }
            link.leave(0)
            left = Double(link.now.nanoseconds) / 1e9
            while link.left.session.awaitsLastReports { step(.milliseconds(5)) }
            ended = Double(link.now.nanoseconds) / 1e9
            link.firewall = old
            run(until: ended + 1)
        }

        private func step(_ time: Duration) {
            link.run(until: link.now + time)
            if let source = link.right.session.sources.first {
                receivedCount = source.reception.receivedCount - source.reception.duplicateCount
                firstCount = Int(source.reception.firstSequenceNumber.rawValue)
                lostCount = source.reception.cumulativeLost + source.lostAtEndCount
            }
        }

        /// The talker's count of lost packets; nil if it does not know all.
        var talkersLostCount: Int? {
            var reported: Int?
            for event in link.left.events {
                if case .receiverReported(_, let view) = event { reported = view.lostCount }
            }
            return link.left.session.lostAtEndCount.map { $0 + (reported ?? 0) }
        }
        var coveredCount: Int? { link.left.session.coveredCount }
        var sentCount: Int { link.left.session.sendStream.packetCount }
    }

    /// The end falls on any moment of a transmission, with any loss, with and without recovery; in a third of the calls the first answer is lost, too.
    @Test(.timeLimit(.minutes(5))) func bothEndsKnowTheSameNumberOfLostPackets() throws {
        var knownCount = 0
        for seed in 1...100 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            let share = Double.random(in: 0...0.3, using: &random)
            let delay = Duration.milliseconds(Int.random(in: 1...80, using: &random))
            let recovers = seed.isMultiple(of: 2)
            let call = Call(NetworkModel(loss: .random(share), delay: delay), recovers ? .auto : .off, seed: seed)
            call.run(until: Double.random(in: 2...12, using: &random))
            if seed % 3 == 0 {
                var hasDropped = false
                call.leave { sender, _ in
                    guard sender == 1, !hasDropped else { return false }
                    hasDropped = true
                    return true
                }
            } else {
                call.leave()
            }
            #expect(call.ended - call.left < 0.51)
            if let lost = call.talkersLostCount {
                knownCount += 1
                #expect(lost == call.lostCount, "seed \(seed), loss \(share)")
                // The first packets may be lost before the receiver knows of the talker.
                #expect(recovers || call.sentCount - lost - call.receivedCount == call.firstCount, "seed \(seed)")
            } else {
                // Both answers were lost.
                #expect(try #require(call.coveredCount) <= call.sentCount && share > 0, "seed \(seed)")
            }
        }
        #expect(knownCount >= 70, "\(knownCount) of 100")
    }

    @Test func withoutLossTheEndTakesOneRoundTrip() {
        let call = Call(NetworkModel(delay: .milliseconds(20)), seed: 1)
        call.run(until: 5)
        call.leave()
        #expect(call.ended - call.left < 0.06)
        #expect(call.talkersLostCount == 0 && call.lostCount == 0)
    }

    /// The last packets are lost, and nothing after them shows it but the last reports.
    @Test func packetsThatAreLostAtTheEndAreCounted() {
        let call = Call(NetworkModel(delay: .milliseconds(20)), seed: 1)
        call.run(until: 5)
        call.link.firewall = { sender, _, count in sender != 0 || count > 140 }
        let before = call.sentCount
        call.run(until: 5.4)
        call.link.firewall = nil
        call.leave()
        #expect(call.sentCount - before == 20)
        #expect(call.talkersLostCount == 20 && call.lostCount == 20)
    }

    /// Packets that the BYE overtakes are not lost: the receiver reports again before it forgets the talker.
    @Test func packetsThatTheGoodbyeOvertakesAreNotLost() {
        for seed in 1...20 as ClosedRange<UInt64> {
            let call = Call(
                NetworkModel(delay: .milliseconds(20), jitter: .uniform(.zero ... .milliseconds(60))), seed: seed)
            call.run(until: 5)
            call.leave()
            // Packets that came before the one that counted as the first make it negative (RFC 3550 section 6.4.1).
            #expect(call.lostCount <= 0, "seed \(seed)")
            #expect(call.talkersLostCount == call.lostCount && call.coveredCount == call.sentCount, "seed \(seed)")
        }
    }

    @Test func aTalkerWhoseReportsAreLostKnowsUpToWhichPacketItKnows() throws {
        let call = Call(NetworkModel(delay: .milliseconds(20)), seed: 1)
        call.run(until: 5)
        call.leave { sender, _ in sender == 1 }
        #expect((0.49...0.51).contains(call.ended - call.left))
        #expect(call.talkersLostCount == nil)
        let covered = try #require(call.coveredCount)
        #expect(covered > 150 && covered < call.sentCount)
    }

    @Test func bothMayLeaveAtOnce() {
        let call = Call(NetworkModel(delay: .milliseconds(40)), seed: 1)
        call.link.right.speech = Speech(byteCount: 80)
        call.run(until: 5)
        call.link.leave(1)
        call.leave()
        call.run(until: 6)
        #expect(call.link.ends.map { $0.session.lostAtEndCount } == [0, 0])
    }

    /// A receiver of another program states no status, and is not waited for.
    @Test func nobodyWaitsForProgramsThatDoNotAnswer() {
        let talker = session(9, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(1)]))
        let link = SimulatedLink(
            left: talker, right: session(1, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(0)])))
        link.left.speech = Speech()
        link.firewall = { sender, _, _ in sender == 0 }
        link.run(until: .start + .seconds(5))
        link.leave(0)
        let isWaiting = link.left.session.awaitsLastReports
        #expect(!isWaiting)
    }

    /// A third party cannot make a station send reports again and again.
    @Test func aRepeatedGoodbyeIsAnsweredThreeTimes() {
        let call = Call(NetworkModel(delay: .milliseconds(1)), seed: 1)
        call.run(until: 3)
        let before = call.link.right.sent.count
        let goodbye = [UInt8](capacity: 64) { datagram in
            ReceiverReport(ssrc: SSRC(9)).write(into: &datagram)
            Goodbye(sources: [SSRC(9)]).write(into: &datagram)
        }
        for _ in 0..<50 {
            call.link.inject(goodbye, from: SimulatedLink.endpoint(0), to: 1)
            call.run(until: Double(call.link.now.nanoseconds) / 1e9 + 0.001)
        }
        call.run(until: 4)
        let answers = call.link.right.sentControl.filter { $0.at > .start + .seconds(3) }.count {
            answersGoodbye($0.bytes)
        }
        #expect((1...3).contains(answers) && call.link.right.sent.count - before < 10)
    }

    private func answersGoodbye(_ datagram: [UInt8]) -> Bool {
        guard var packets = try? RTCPCompound(parsing: datagram.span, allowsReducedSize: true) else { return false }
        while let packet = try? packets.next() {
            if case .unknown(let other) = packet, let packet = ApplicationPacket(other, in: datagram.span),
                packet.name == StationStatus.packetName
            {
                return StationStatus(packet.data)?.answersGoodbye ?? false
            }
        }
        return false
    }

    /// Two stations leave a third one, one a little after the other. What answers the first says nothing about the packets of
    /// the second, which are on the way.
    @Test func theAnswerToAnotherIsNoAnswer() {
        for offset in stride(from: 0, through: 150, by: 10) {
            let ends = (0..<3).map { index in
                let others = index == 0 ? [1, 2] : [0]
                return LinkEnd(
                    session(
                        UInt32(index + 1), RTPSessionConfiguration(remotes: others.map(SimulatedLink.endpoint))),
                    number: index)
            }
            let link = SimulatedLink(ends, network: NetworkModel(delay: .milliseconds(50)))
            for index in 1...2 { link.ends[index].speech = Speech() }
            link.run(until: .start + .seconds(5))
            link.leave(1)
            link.run(until: link.now + .milliseconds(offset))
            link.leave(2)
            link.run(until: link.now + .seconds(1))
            #expect(link.ends[1...].map { $0.session.lostAtEndCount } == [0, 0], "\(offset) ms")
        }
    }

    /// The last report of a partner that has left stays known, and later packets do not count as arrived.
    @Test func packetsSentAfterThePartnerHasLeftAreNotCovered() {
        let link = ProtectedLink.link(NetworkModel(delay: .milliseconds(20)), .off, .off, seed: 1)
        link.left.speech = Speech()
        link.run(until: .start + .seconds(5))
        link.leave(1)
        link.run(until: .start + .seconds(5.1))
        link.firewall = { sender, _, _ in sender != 1 }
        link.run(until: .start + .seconds(65))
        link.leave(0)
        link.run(until: link.now + .seconds(1))
        let (lost, covered) = (link.left.session.lostAtEndCount, link.left.session.coveredCount)
        #expect(lost == nil && (200...260).contains(covered ?? 0), "\(covered ?? 0)")
    }

    /// An ordinary receiver beside a station of this version: its last report does not cover the last packets.
    @Test func theAnswerOfOnePartnerSaysNothingAboutTheOther() {
        let remotes = [SimulatedLink.endpoint(1), bob]
        let link = SimulatedLink(
            left: session(9, RTPSessionConfiguration(remotes: remotes)),
            right: session(1, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(0)])))
        link.left.speech = Speech()
        for number in 1...9 {
            link.run(until: .start + .seconds(number))
            let last = link.left.sentMedia.last?.bytes ?? [0, 0, 0, 0]
            let highest = SequenceNumber(rawValue: UInt16(last[2]) << 8 | UInt16(last[3]))
            let block = ReportBlock(
                ssrc: SSRC(9), fractionLost: 0, cumulativeLost: 0,
                extendedHighestSequenceNumber: UInt32(highest.rawValue), jitter: .zero, lastSenderReport: nil,
                delaySinceLastSenderReport: .zero)
            if number == 5 { link.inject(report(SSRC(2), [block]), from: bob, to: 0) }
        }
        link.leave(0)
        link.run(until: link.now + .seconds(1))
        let (lost, covered) = (link.left.session.lostAtEndCount, link.left.session.coveredCount)
        #expect(lost == nil && abs((covered ?? 0) - 250) < 5, "\(covered ?? 0)")
    }

    /// The received and the lost packets together never become fewer, whenever the talker stops, whatever is blocked, and also
    /// where more packets are lost than their numbers can count.
    @Test func theSumOfReceivedAndLostPacketsNeverFalls() {
        for seed in 1...30 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            let link = ProtectedLink.link(NetworkModel(delay: .milliseconds(20)), .off, .off, seed: seed)
            link.left.speech = Speech(byteCount: 300)
            link.run(until: .start + .seconds(3))
            var (last, most, receivedCount, restartCount) = (0, 0, 0, 0)
            let isLong = seed == 1
            for round in 0..<(isLong ? 3 : 40) {
                let step = isLong && round == 1 ? 1_500 : Double.random(in: 0.2...6, using: &random)
                link.firewall =
                    [
                        nil, { sender, _, _ in sender != 0 }, { sender, _, count in sender != 0 || count < 250 },
                    ][isLong ? round == 1 ? 2 : 0 : Int.random(in: 0...2, using: &random)]
                if !isLong, Int.random(in: 0...2, using: &random) == 0 {
                    let position = FrameCount(Int(link.now.nanoseconds / 1_000 * 48 / 1_000))
                    link.left.speech =
                        link.left.speech == nil
                        ? Speech(byteCount: 300, beginning: link.now, firstPosition: position) : nil
                }
                let end = link.now + .seconds(step)
                while link.now < end {
                    link.run(until: link.now + .milliseconds(50))
                    guard let source = link.right.session.sources.first else { continue }
                    let reception = source.reception
                    let sum = reception.receivedCount + reception.cumulativeLost + source.lostAtEndCount
                    // A source that was removed, or begins anew, is counted anew.
                    let isNew = reception.receivedCount < receivedCount || reception.restartCount > restartCount
                    #expect(isNew || sum >= last, "seed \(seed), round \(round)")
                    (last, receivedCount, restartCount) = (sum, reception.receivedCount, reception.restartCount)
                    most = max(most, sum)
                }
            }
            if isLong { #expect(most > 70_000, "\(most)") }
        }
    }
}
