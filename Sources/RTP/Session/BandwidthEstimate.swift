internal import TenfourAudioCore

/// Estimates the bit rate that the network carries. Lowers it when loss coincides with growing delay, because a queue
/// then overflows. Raises it slowly at all other times.
///
/// After up to three reductions the estimate waits for their effect. If the reductions change nothing, the bit rate
/// rises again: other traffic fills the queue, or the route has become longer.
struct BandwidthEstimate: Sendable {
    /// The estimate, in bit/s.
    private(set) var bitRate: Int

    /// The configured bit rate, in bit/s, which is the maximum of the estimate.
    private let most: Int
    /// The smallest round trip of the last 15 to 30 seconds.
    private var fastest = RecentMinimum(window: Self.memory)
    /// The present series of reductions; nil if there is none.
    private var cuts: Cuts?
    /// The time up to which the slow rise has been added to the estimate.
    private var lastRise: Instant?
    /// The time at which congestion last began, and the bit rate at that time, in bit/s.
    private var overflow: (bitRate: Int, at: Instant)?

    /// A series of reductions whose effect is judged together, with the loss and the round trip before the first one.
    private struct Cuts {
        var first: Instant
        var last: Instant
        var count = 0
        var lossShare: Double
        var roundTrip: Duration
    }

    /// The minimum of the estimate, in bit/s. At a lower bit rate, speech is not worth sending.
    static let least = 12_000
    /// The minimum duration for which `fastest` keeps a round trip. The maximum is twice this duration.
    private static let memory = Duration.seconds(15)
    /// The minimum proportion of lost packets that counts as congestion, if the delay grows too.
    private static let lossShare = 0.02
    /// The minimum growth of the round trip that counts as congestion, if packets are lost too.
    private static let growth = Duration.milliseconds(40)
    /// The shortest time between two reductions.
    private static let cutInterval = Duration.seconds(1)
    /// The number of reductions in a series. After them the estimate waits for their effect.
    private static let cutCount = 3
    /// The time from the first reduction of a series until its effect is judged. Reports cover the last seconds, so
    /// they show it late.
    private static let timeToBeFelt = Duration.seconds(8)
    /// The time after the last reduction for which the estimate does not rise.
    private static let calm = Duration.seconds(3)
    /// The time after congestion for which the estimate rises slowly near the bit rate that caused it.
    private static let caution = Duration.seconds(60)

    init(_ bitRate: Int) {
        self.bitRate = bitRate
        most = bitRate
    }

    /// Updates the estimate with a receiver's report. `lossShare` is the proportion of lost packets, 0…1. A report
    /// without `roundTrip` is ignored.
    mutating func update(lossShare: Double, roundTrip: Duration?, at now: Instant) {
        guard let roundTrip else { return }
        let usual = fastest.value ?? roundTrip
        fastest.insert(Instant.nanoseconds(in: roundTrip), at: now)
        if lossShare >= Self.lossShare, roundTrip >= usual + max(Self.growth, usual / 2) {
            congested(lossShare, roundTrip, at: now)
        } else {
            rise(at: now)
        }
    }

    private mutating func congested(_ lossShare: Double, _ roundTrip: Duration, at now: Instant) {
        if let cuts, cuts.count == Self.cutCount {
            guard now - cuts.first >= Self.timeToBeFelt else { return }
            if lossShare >= cuts.lossShare * 0.75, roundTrip >= cuts.roundTrip * 9 / 10 {
                fastest = RecentMinimum(window: Self.memory)
                (self.cuts, overflow, lastRise) = (nil, nil, now)
                return
            }
            self.cuts = nil
        }
        if let cuts, now - cuts.last < Self.cutInterval { return }
        if cuts == nil {
            cuts = Cuts(first: now, last: now, lossShare: lossShare, roundTrip: roundTrip)
            overflow = (bitRate, now)
        }
        cuts?.count += 1
        cuts?.last = now
        bitRate = max(bitRate * 85 / 100, min(Self.least, most))
    }

    /// Raises the estimate by 5 % of the configured bit rate each second. For a minute after congestion, raises it only
    /// a tenth as fast once it exceeds 80 % of the bit rate that caused the congestion.
    private mutating func rise(at now: Instant) {
        guard bitRate < most else {
            lastRise = now
            return
        }
        if let cuts {
            guard now - cuts.last >= Self.calm else { return }
            lastRise = cuts.last + Self.calm
            self.cuts = nil
        }
        let passed = lastRise.map { min(max((now - $0) / .seconds(1), 0), 10) } ?? 0
        lastRise = now
        let step = Double(most) * passed / 20
        guard let overflow, now - overflow.at < Self.caution else {
            bitRate = min(bitRate + Int(step), most)
            return
        }
        let edge = overflow.bitRate * 8 / 10
        bitRate = bitRate < edge ? min(bitRate + Int(step), edge) : min(bitRate + Int(step / 10), most)
    }
}

extension RecentMinimum {
    fileprivate var value: Duration? { least.map { .nanoseconds($0) } }
}
