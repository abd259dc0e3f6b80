internal import Sound

/// How many bits the network has room for: fewer when loss comes together with growing delay, which is a queue that
/// overflows, and slowly more again when it does not.
struct BitRateLimit: Sendable {
    /// In bit/s.
    private(set) var bitRate: Int

    private let most: Int
    private var fastest = RecentMinimum(window: .seconds(15))
    private var lastCut: Instant?
    private var lastRise: Instant?

    /// Below it speech is not worth sending.
    static let least = 12_000
    private static let lossShare = 0.02
    private static let growth = Duration.milliseconds(40)
    /// Between two cuts: so long a cut needs to be felt.
    private static let cutInterval = Duration.seconds(1)
    private static let calm = Duration.seconds(3)

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
            cut(at: now)
        } else {
            rise(at: now)
        }
    }

    private mutating func cut(at now: Instant) {
        guard lastCut.map({ now - $0 >= Self.cutInterval }) ?? true else { return }
        lastCut = now
        lastRise = now
        bitRate = max(bitRate * 85 / 100, min(Self.least, most))
    }

    /// By a twentieth of all there is each second.
    private mutating func rise(at now: Instant) {
        guard bitRate < most, lastCut.map({ now - $0 >= Self.calm }) ?? true else { return }
        let passed = lastRise.map { min(max((now - $0) / .seconds(1), 0), 10) } ?? 0
        lastRise = now
        bitRate = min(bitRate + Int(Double(most) * passed / 20), most)
    }
}

extension RecentMinimum {
    fileprivate var value: Duration? { least.map { .nanoseconds($0) } }
}
