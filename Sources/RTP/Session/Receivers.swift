internal import TenfourAudioCore
internal import TenfourPackets

/// One who hears our stream at an address that a person typed, as its reports tell.
struct Receiver: Sendable {
    let ssrc: SSRC
    var address: IPAddress
    var capabilities: Capabilities?
    var roundTrip = RoundTrip()
    private(set) var lastReport: Instant
    /// Between its last two reports.
    private(set) var reportInterval = Duration.zero
    /// Whether a block about us ever came: without one it may not hear us, and say only what it can do for what it sends.
    private(set) var hasReported = false
    fileprivate var hasToldTime = false
    /// Of the packets since its last report.
    var lossShare = 0.0
    /// The loss of its last seconds, told packet by packet, before anything was done about it: share and mean burst, and the
    /// share as it was told last, without regard to what was before.
    private var pattern: (share: Double, meanBurst: Double, told: Double, at: Instant)?

    /// A pattern is better than the share for so long.
    private static let worth = Duration.seconds(2)
    /// Fewer packets than these are taken for so many: one loss among five tells little.
    private static let leastCount = 50
    /// Between reports: more has another reason.
    private static let longestInterval = Duration.seconds(120)
    /// Of a new report.
    private static let weight = 0.08

    init(_ ssrc: SSRC, at address: IPAddress, _ now: Instant) {
        self.ssrc = ssrc
        self.address = address
        lastReport = now
    }

    /// A block about us has come.
    mutating func reported(at now: Instant) {
        reportInterval = min(now - lastReport, Self.longestInterval)
        lastReport = now
        hasReported = true
    }

    /// Share and mean length of bursts.
    func loss(at now: Instant) -> (share: Double, meanBurst: Double) {
        guard let pattern, now - pattern.at < Self.worth else { return (lossShare, 1 / max(1 - lossShare, 0.1)) }
        return (pattern.share, pattern.meanBurst)
    }

    /// As told last, without regard to what was before.
    func lastLossShare(at now: Instant) -> Double {
        guard let pattern, now - pattern.at < Self.worth else { return lossShare }
        return pattern.told
    }

    /// A few seconds of loss by chance differ much from those before: only the end of all loss, and more than twice of it, are
    /// believed at once.
    mutating func update(_ loss: LossSummary, at now: Instant) {
        let share = Double(loss.lossCount) / Double(max(loss.packetCount, Self.leastCount))
        let meanBurst = max(loss.meanBurstLength, 1)
        if let before = pattern, share > 0, share < 2 * before.share {
            pattern = (
                before.share + (share - before.share) * Self.weight,
                before.meanBurst + (meanBurst - before.meanBurst) * Self.weight, share, now
            )
        } else {
            pattern = (share, meanBurst, share, now)
        }
    }
}

/// All who hear our stream and say so.
struct Receivers: Sendable {
    private(set) var all: [Receiver] = []
    /// What their clocks said and when that came, until it is sent back: one of each, in that order.
    private var toldTimes: [(ssrc: SSRC, time: ShortNTPTime, at: Instant)] = []

    /// More than a person types addresses of.
    private static let maximumCount = 32
    private static let timeout = Duration.seconds(30)
    /// Over more, two clocks run too far apart.
    private static let longestEcho = Duration.seconds(15)

    /// The clock of one who is known. Returns whether it is the first that we hear of from there.
    mutating func referenceTimeArrived(_ time: ShortNTPTime, of ssrc: SSRC, at address: IPAddress, _ now: Instant)
        -> Bool
    {
        guard let index = all.firstIndex(where: { $0.ssrc == ssrc && $0.address == address }) else { return false }
        let isFirst = !all.contains { $0.address == address && $0.hasToldTime }
        all[index].hasToldTime = true
        toldTimes.removeAll { $0.ssrc == ssrc }
        toldTimes.append((ssrc, time, now))
        return isFirst
    }

    /// The times that were told of late and not yet sent back, at most so many: those that wait longest.
    mutating func nextEchoes(limit: Int, at now: Instant) -> [TimeEcho] {
        toldTimes.removeAll { now - $0.at > Self.longestEcho }
        let echoes = toldTimes.prefix(limit).map { TimeEcho(teller: $0.ssrc, time: $0.time, delay: now - $0.at) }
        toldTimes.removeFirst(echoes.count)
        return echoes
    }

    /// Changes what is known of a receiver; one that is new, where there is room for it.
    mutating func update(_ ssrc: SSRC, at address: IPAddress, _ now: Instant, _ change: (inout Receiver) -> Void) {
        all.removeAll { now - $0.lastReport > Self.timeout && !($0.ssrc == ssrc && $0.address == address) }
        if let index = all.firstIndex(where: { $0.ssrc == ssrc && $0.address == address }) {
            change(&all[index])
        } else if all.count < Self.maximumCount {
            var receiver = Receiver(ssrc, at: address, now)
            change(&receiver)
            all.append(receiver)
        }
    }

    mutating func remove(_ ssrc: SSRC, at address: IPAddress) {
        all.removeAll { $0.ssrc == ssrc && $0.address == address }
    }

    func roundTrip(from address: IPAddress) -> Duration? {
        all.lazy.filter { $0.address == address }.compactMap(\.roundTrip.value).max()
    }

    /// What all of them can do together; nil where somebody at these addresses does not say, and nobody says it for them.
    func capabilities(at addresses: Set<IPAddress>, otherwise told: Capabilities?) -> Capabilities? {
        var common: Capabilities?
        for address in addresses {
            let known = all.filter { $0.address == address }
            let reporting = known.filter(\.hasReported)
            let here = reporting.isEmpty ? known : reporting
            let said = here.isEmpty ? [told] : here.map { $0.capabilities ?? told }
            for capabilities in said {
                guard let capabilities else { return nil }
                common = common.map { $0.common(with: capabilities) } ?? capabilities
            }
        }
        return common
    }

    /// Of the one who loses most; and the longest round trip of all.
    func loss(at now: Instant) -> (share: Double, meanBurst: Double) {
        all.lazy.map { $0.loss(at: now) }.max { $0.share < $1.share } ?? (0, 1)
    }

    func lastLossShare(at now: Instant) -> Double { all.lazy.map { $0.lastLossShare(at: now) }.max() ?? 0 }

    var standingRoundTrip: Duration? { all.lazy.compactMap(\.roundTrip.standing).max() }

    var roundTrip: Duration? { all.lazy.compactMap(\.roundTrip.value).max() }

    /// Of the one who reports least often.
    var reportInterval: Duration { all.lazy.map(\.reportInterval).max() ?? .zero }
}

extension Capabilities {
    fileprivate func common(with other: Self) -> Self {
        Capabilities(
            supportsNACK: supportsNACK && other.supportsNACK,
            redPayloadType: redPayloadType == other.redPayloadType ? redPayloadType : nil,
            depth: depth.map { min($0, other.depth ?? $0) } ?? other.depth,
            concealment: min(concealment, other.concealment))
    }
}
