internal import TenfourAudioCore

/// How many bits the network has room for: fewer when loss comes together with growing delay, which is a queue that
/// overflows, and slowly more again when it does not.
///
/// Some cuts are made at once, and then it is waited until they are felt. Where they change nothing, the queue is another's or
/// the way has become a longer one: the bits come back.
struct BandwidthEstimate: Sendable {
    /// In bit/s.
    private(set) var bitRate: Int

    private let most: Int
    private var fastest = RecentMinimum(window: Self.memory)
    private var cuts: Cuts?
    private var lastRise: Instant?
    /// What was too much, the last time.
    private var overflow: (bitRate: Int, at: Instant)?

    /// Those that are to be felt together, and what they are to better.
    private struct Cuts {
        var first: Instant
        var last: Instant
        var count = 0
        var lossShare: Double
        var roundTrip: Duration
    }

    /// Below it speech is not worth sending.
    static let least = 12_000
    private static let memory = Duration.seconds(15)
    private static let lossShare = 0.02
    private static let growth = Duration.milliseconds(40)
    private static let cutInterval = Duration.seconds(1)
    private static let cutCount = 3
    /// What is reported looks back on seconds.
    private static let timeToBeFelt = Duration.seconds(8)
    private static let calm = Duration.seconds(3)
    /// For so long what was too much once is not passed quickly.
    private static let caution = Duration.seconds(60)

    init(_ bitRate: Int) {
        self.bitRate = bitRate
        most = bitRate
    }

    /// With each report of what arrives.
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

    /// By a twentieth of all there is each second, and by a tenth of that where it was too much before.
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
