import TenfourNetworkEmulator
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourSession

/// Fewer bits where the network is full, and nowhere else.
struct BandwidthEstimateTests {
    @Test func aQueueThatOverflowsMeansFewerBits() {
        let link = ProtectedLink.link(NetworkModel(delay: .milliseconds(20)), .auto, .auto, seed: 2)
        link.run(until: seconds(20))
        // 40 kbit/s with headers, where 32 kbit/s of sound take 48 and more.
        var narrow = NetworkModel(delay: .milliseconds(20))
        narrow.bottleneck = Bottleneck(bitsPerSecond: 40_000, queue: .time(.milliseconds(400)))
        link.change(to: narrow)
        var least = 32_000
        for second in 20..<60 {
            link.run(until: seconds(Double(second)))
            least = min(least, link.left.session.estimatedBitRate)
        }
        #expect((12_000...24_000).contains(least), "\(least)")
        let lost = link.right.session.sources.first?.recentLoss.share ?? 1
        #expect(lost < 0.1, "\(lost)")
        link.change(to: NetworkModel(delay: .milliseconds(20)))
        link.run(until: seconds(160))
        #expect(link.left.session.lossProtection == LossProtection(bitRate: 32_000))
    }

    @Test func bitsAreTakenForLossWithGrowingDelayAndForNeitherAlone() {
        var limit = BandwidthEstimate(32_000)
        func report(_ share: Double, _ roundTrip: Int, at second: Double) -> Int {
            limit.update(lossShare: share, roundTrip: .milliseconds(roundTrip), at: seconds(second))
            return limit.bitRate
        }
        #expect(report(0, 20, at: 0) == 32_000)
        #expect(report(0.1, 30, at: 1) == 32_000, "loss alone")
        #expect(report(0, 400, at: 2) == 32_000, "delay alone")
        #expect(report(0.1, 400, at: 3) == 27_200)
        #expect(report(0.1, 400, at: 3.5) == 27_200, "a cut has a second to be felt")
        #expect(report(0.1, 400, at: 4) == 23_120)
        #expect(report(0, 20, at: 6) == 23_120, "and three to be over")
        #expect(report(0, 20, at: 8) > 23_120)
        #expect(report(0, 20, at: 18) == 25_600)
        #expect((25_601..<28_000).contains(report(0, 20, at: 20)), "slowly where it was too much before")
        #expect(report(0, 20, at: 70) == 32_000)
    }

    @Test func cutsThatChangeNothingAreTakenBack() {
        var limit = BandwidthEstimate(32_000)
        limit.update(lossShare: 0, roundTrip: .milliseconds(10), at: seconds(0))
        var least = limit.bitRate
        for half in 2..<80 {
            // The way is a longer one now, and loses as it did.
            limit.update(lossShare: 0.05, roundTrip: .milliseconds(300), at: seconds(Double(half) / 2))
            least = min(least, limit.bitRate)
        }
        #expect(least > 19_000)
        #expect(limit.bitRate == 32_000)
    }

    /// A queue that overflows: of what is more than its room, all is lost.
    @Test func aNarrowNetworkIsApproachedSlowly() {
        var limit = BandwidthEstimate(32_000)
        var told: [Double] = Array(repeating: 0, count: 10)
        var lost = 0.0
        var rates: [Int] = []
        for half in 0..<240 {
            let load = Double(limit.bitRate) + 16_000
            told = told.dropFirst() + [max(0, 1 - 36_000 / load)]
            let isFull = load > 36_000
            limit.update(
                lossShare: told.reduce(0, +) / 10, roundTrip: .milliseconds(half < 4 ? 40 : isFull ? 400 : 40),
                at: seconds(Double(half) / 2))
            if half > 40 {
                lost += told.last ?? 0
                rates.append(limit.bitRate)
            }
        }
        #expect(lost / Double(rates.count) < 0.03, "\(lost / Double(rates.count))")
        #expect(rates.reduce(0, +) / rates.count > 14_000, "\(rates.reduce(0, +) / rates.count)")
    }

    /// Some packets are late then; where a queue is full, all are.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func stallsAreNoFullQueue(seed: UInt64) throws {
        let network = try NetworkModel(parsing: "loss=3% burst=3 delay=14ms order=kept stalls=100ms-300ms/1.5s")
        let link = ProtectedLink.link(network, .auto, .auto, seed: seed)
        var least = 32_000
        for second in 0..<60 {
            link.run(until: seconds(Double(second)))
            least = min(least, link.left.session.estimatedBitRate)
        }
        #expect(least == 32_000)
    }

    @Test func lossWithoutDelayDoesNotTakeBits() throws {
        let link = try ProtectedLink.link("b20", .auto, .auto, seed: 2)
        link.run(until: seconds(30))
        #expect(link.left.session.estimatedBitRate == 32_000)
    }
}
