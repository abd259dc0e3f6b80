import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Reports while packets are lost.
struct FeedbackTests {
    @Test func reportsComeTwiceASecondWhileThereIsLoss() throws {
        let link = try ProtectedLink.link("b10", .off, .off, seed: 1)
        link.run(until: seconds(30))
        for end in [link.left, link.right] {
            let times = end.sentControl.filter { $0.at > seconds(2) }.map(\.at)
            #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 <= .milliseconds(500) })
            #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 >= .milliseconds(400) })
        }
    }

    @Test func theFirstLossIsReportedAtOnce() {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        for number in [0, 1, 2, 4] {
            _ = listener.receive(media(SSRC(9), number), from: bob, at: seconds(10 + Double(number) / 50))
        }
        listener.wait(until: seconds(10.1))
        #expect(listener.takeDatagrams().contains { $0.packets.contains { $0.details != nil } })
    }

    @Test func twoWhoAreAloneKnowEachOtherAtOnce() throws {
        let link = ProtectedLink.link(NetworkModel(delay: .milliseconds(20)), .auto, .auto, seed: 1)
        link.run(until: seconds(0.1))
        #expect(link.left.sentControl.count == 1)
        #expect(link.right.sentControl.count == 1)
        #expect(link.right.session.sources.first?.capabilities?.supportsNACK == true)
        #expect(link.left.session.sendStream.lastReceiverView?.roundTrip.map { $0 / .milliseconds(1) > 39 } == true)
    }

    @Test func oneWhoOnlyListensKnowsTheRoundTrip() throws {
        let link = ProtectedLink.link(NetworkModel(delay: .milliseconds(20)), .auto, .auto, seed: 1)
        link.run(until: seconds(0.6))
        let roundTrip = try #require(link.right.session.sources.first?.roundTrip)
        #expect((39...42).contains(roundTrip / .milliseconds(1)), "\(roundTrip)")
        link.run(until: seconds(60))
        for end in [link.left, link.right] { #expect(end.sentReports.count <= 18) }
    }

    @Test func twoWhoFallSilentKeepToTheRuleForAll() {
        let link = ProtectedLink.link(NetworkModel(delay: .milliseconds(20)), .auto, .auto, seed: 1)
        link.right.speech = Speech()
        link.run(until: seconds(3))
        (link.left.speech, link.right.speech) = (nil, nil)
        link.run(until: seconds(63))
        for end in [link.left, link.right] { #expect(end.sentReports.count <= 20) }
    }

    @Test func oneWhomNobodyTypedIsAnsweredWithinItsBytes() throws {
        var listener = session(1)
        var (bytesIn, bytesOut) = (0, 0)
        var first: Instant?
        for number in 0..<50 {
            let now = seconds(Double(number) / 50)
            let packet = media(SSRC(9), number)
            bytesIn += packet.count
            _ = listener.receive(packet, from: bob, at: now)
            listener.wait(until: now + .milliseconds(19))
            for datagram in listener.takeDatagrams() {
                bytesOut += datagram.bytes.count
                first = first ?? now
                #expect(bytesOut <= bytesIn)
            }
        }
        #expect(try #require(first) < seconds(0.8))
    }

    @Test func anEchoOfAnotherTimeIsNone() throws {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        for number in 0..<3 {
            _ = listener.receive(media(SSRC(9), number), from: bob, at: seconds(Double(number) / 50))
        }
        listener.wait(until: seconds(0.1))
        let told = try #require(
            listener.takeDatagrams().flatMap(\.packets).compactMap(\.details).flatMap(\.blocks).compactMap {
                if case .referenceTime(let time) = $0 { time.short } else { nil }
            }.last)
        func hear(_ time: ShortNTPTime, from sender: Endpoint) {
            let echo = TimeEcho(teller: SSRC(1), time: time, delay: .milliseconds(5))
            let report = ExtendedReport(sender: SSRC(9), blocks: [.echoes([echo])])
            let bytes = [UInt8](capacity: 100) { datagram in
                ReceiverReport(ssrc: SSRC(9)).write(into: &datagram)
                report.write(into: &datagram)
            }
            _ = listener.receive(bytes, from: sender, at: seconds(0.2))
        }
        hear(ShortNTPTime(rawValue: 0), from: bob)
        hear(ShortNTPTime(rawValue: told.rawValue &- 1), from: bob)
        hear(told, from: carol)
        #expect(listener.sources.first?.roundTrip == nil)
        hear(told, from: bob)
        #expect(listener.sources.first?.roundTrip != nil)
    }

    @Test func aCrowdKeepsToTheRuleForAll() {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        var count = 0
        for number in 0..<3_000 {
            let now = seconds(Double(number) / 50)
            listener.wait(until: now)
            for ssrc in 100..<110 as Range<UInt32> where number % 5 != 0 {
                _ = listener.receive(media(SSRC(ssrc), number), from: carol, at: now)
            }
            count += listener.takeDatagrams().filter { $0.endpoint == bob }.count
        }
        #expect(count <= 30, "\(count) in a minute")
    }

    @Test func aStrangerWhoOnlyReportsDoesNotMakeACrowd() {
        var listener = session(1)
        var times: [Instant] = []
        for number in 0..<1_500 {
            let now = seconds(Double(number) / 50)
            listener.wait(until: now)
            if number % 50 == 0 { _ = listener.receive(report(SSRC(77)), from: carol, at: now) }
            if number % 10 != 0 { _ = listener.receive(media(SSRC(9), number), from: alice, at: now) }
            times += listener.takeDatagrams().filter { $0.endpoint == alice }.map { _ in now }
        }
        #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 <= .milliseconds(520) })
        #expect(times.count > 50)
    }

    @Test func thePatternIsThatOfTheNetworkBeforeRepair() throws {
        let link = try ProtectedLink.link("b10", .nack, .nack, seed: 6)
        link.run(until: seconds(30))
        let summary = try #require(
            details(link.right).compactMap { if case .lossRLE(let loss) = $0 { loss.summary } else { nil } }.last)
        #expect((240...252).contains(summary.packetCount))
        #expect((0.04...0.18).contains(summary.share), "\(summary.share)")
        let unrepaired = try #require(link.right.session.sources.first?.recentLoss)
        #expect(unrepaired.share > 0.04)
        #expect((link.right.session.sources.first?.reception.cumulativeLost ?? 0) < 40, "and most of it has come back")
    }

    @Test func metricsTellOfLossBurstsAndRoundTrip() throws {
        let link = try ProtectedLink.link("g10", .nack, .nack, seed: 6)
        link.run(until: seconds(30))
        let metrics = try #require(
            details(link.right).compactMap { if case .voipMetrics(let metrics) = $0 { metrics } else { nil } }.last)
        #expect(metrics.lossRate > 5)
        #expect((.milliseconds(35) ... .milliseconds(45)).contains(metrics.roundTrip))
        #expect(metrics.burstDuration > .zero)
        #expect(link.left.session.sendStream.lastReceiverView?.burstLength ?? 0 > 1.3)
    }

    private func details(_ end: LinkEnd) -> [ExtendedReport.Block] {
        end.sentControl.flatMap(\.packets).compactMap(\.details).flatMap(\.blocks)
    }

    @Test func aResentPacketDoesNotCountAsJitter() throws {
        let link = try ProtectedLink.link("b20", .nack, .nack, seed: 6)
        link.run(until: seconds(30))
        let source = try #require(link.right.session.sources.first)
        #expect(source.recovery.retransmittedCount > 100)
        #expect(source.reception.jitter.duration() < .milliseconds(2), "\(source.reception.jitter)")
    }
}
