import BadLink
import Engine
import RTP
import Sound
import Support
import Testing

/// Reports while packets are lost.
struct FeedbackTests {
    @Test func reportsComeTwiceASecondWhileThereIsLoss() throws {
        let link = try Defended.link("b10", .off, .off, seed: 1)
        link.run(until: seconds(30))
        for end in [link.left, link.right] {
            let times = end.sentControl.filter { $0.at > seconds(2) }.map(\.at)
            #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 <= .milliseconds(500) })
            #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 >= .milliseconds(400) })
        }
    }

    @Test func theFirstLossIsReportedAtOnce() {
        var listener = station(1, StationConfiguration(remotes: [bob]))
        for number in [0, 1, 2, 4] {
            _ = listener.receive(media(SSRC(9), number), from: bob, at: seconds(10 + Double(number) / 50))
        }
        listener.wait(until: seconds(10.1))
        #expect(listener.takeDatagrams().contains { $0.packets.contains { $0.details != nil } })
    }

    @Test func twoWhoAreAloneKnowEachOtherAtOnce() throws {
        let link = Defended.link(NetworkModel(delay: .milliseconds(20)), .auto, .auto, seed: 1)
        link.run(until: seconds(0.1))
        #expect(link.left.sentControl.count == 1)
        #expect(link.right.sentControl.count == 1)
        #expect(link.right.station.sources.first?.abilities?.answersNACK == true)
        #expect(link.left.station.transmission.lastView?.roundTrip.map { $0 / .milliseconds(1) > 39 } == true)
    }

    @Test func oneWhoOnlyListensKnowsTheRoundTrip() throws {
        let link = Defended.link(NetworkModel(delay: .milliseconds(20)), .auto, .auto, seed: 1)
        link.run(until: seconds(0.6))
        let roundTrip = try #require(link.right.station.sources.first?.roundTrip)
        #expect((39...42).contains(roundTrip / .milliseconds(1)), "\(roundTrip)")
        link.run(until: seconds(60))
        #expect(link.left.sentControl.count <= 25, "and is told of it in the usual reports")
    }

    @Test func aCrowdKeepsToTheRuleForAll() {
        var listener = station(1, StationConfiguration(remotes: [bob]))
        var count = 0
        for number in 0..<3_000 {
            let now = seconds(Double(number) / 50)
            listener.wait(until: now)
            for ssrc in 100..<103 as Range<UInt32> where number % 5 != 0 {
                _ = listener.receive(media(SSRC(ssrc), number), from: carol, at: now)
            }
            count += listener.takeDatagrams().filter { $0.endpoint == bob }.count
        }
        #expect(count <= 30, "\(count) in a minute")
    }

    @Test func thePatternIsThatOfTheNetworkBeforeRepair() throws {
        let link = try Defended.link("b10", .nack, .nack, seed: 6)
        link.run(until: seconds(30))
        let summary = try #require(
            details(link.right).compactMap { if case .lossRLE(let loss) = $0 { loss.summary } else { nil } }.last)
        #expect((240...252).contains(summary.packetCount))
        #expect((0.04...0.18).contains(summary.share), "\(summary.share)")
        let unrepaired = try #require(link.right.station.sources.first?.recentLoss)
        #expect(unrepaired.share > 0.04)
        #expect((link.right.station.sources.first?.reception.cumulativeLost ?? 0) < 40, "and most of it has come back")
    }

    @Test func metricsTellOfLossBurstsAndRoundTrip() throws {
        let link = try Defended.link("g10", .nack, .nack, seed: 6)
        link.run(until: seconds(30))
        let metrics = try #require(
            details(link.right).compactMap { if case .voipMetrics(let metrics) = $0 { metrics } else { nil } }.last)
        #expect(metrics.lossRate > 5)
        #expect((.milliseconds(35) ... .milliseconds(45)).contains(metrics.roundTrip))
        #expect(metrics.burstDuration > .zero)
        #expect(link.left.station.transmission.lastView?.burstLength ?? 0 > 1.3)
    }

    private func details(_ end: LinkEnd) -> [ExtendedReport.Block] {
        end.sentControl.flatMap(\.packets).compactMap(\.details).flatMap(\.blocks)
    }

    @Test func aResentPacketDoesNotCountAsJitter() throws {
        let link = try Defended.link("b20", .nack, .nack, seed: 6)
        link.run(until: seconds(30))
        let source = try #require(link.right.station.sources.first)
        #expect(source.mending.answeredCount > 100)
        #expect(source.reception.jitter.duration() < .milliseconds(2), "\(source.reception.jitter)")
    }
}
