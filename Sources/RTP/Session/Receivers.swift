internal import TenfourAudioCore
internal import TenfourPackets

/// A receiver of our stream at the address of a configured remote. All values come from its reports.
struct Receiver: Sendable {
    let ssrc: SSRC
    var address: IPAddress
    var capabilities: Capabilities?
    var roundTrip = RoundTrip()
    private(set) var lastReport: Instant
    /// The time between the receiver's last two reports.
    private(set) var reportInterval = Duration.zero
    /// Whether a report block about our stream ever arrived. Without one the receiver may not receive us, and its
    /// capabilities may concern only its own stream.
    private(set) var hasReported = false
    /// Whether a reference time of the receiver has arrived.
    fileprivate var hasToldTime = false
    /// The share of lost packets in the receiver's last report block, 0…1.
    var lossShare = 0.0
    /// The network's loss in the last seconds, from the receiver's loss RLE blocks (RFC 3611): the proportion of lost
    /// packets and the mean burst length, both smoothed. `told` is the proportion in the last block, not smoothed.
    private var pattern: (share: Double, meanBurst: Double, told: Double, at: Instant)?

    /// The time for which `pattern` is preferred to `lossShare`.
    private static let worth = Duration.seconds(2)
    /// The minimum number of packets that a loss RLE block counts for. Losses in a shorter block are divided by this
    /// number, because one loss among five packets says little.
    private static let leastCount = 50
    /// The maximum report interval that is recorded. A longer time between two reports has another cause, and counts as
    /// this interval.
    private static let longestInterval = Duration.seconds(120)
    /// The weight of a new loss RLE block in the smoothed values of `pattern`, 0…1.
    private static let weight = 0.08

    init(_ ssrc: SSRC, at address: IPAddress, _ now: Instant) {
        self.ssrc = ssrc
        self.address = address
        lastReport = now
    }

    /// Records a report block about our stream.
    mutating func reported(at now: Instant) {
        reportInterval = min(now - lastReport, Self.longestInterval)
        lastReport = now
        hasReported = true
    }

    /// Returns the share of lost packets and the mean length of bursts.
    func loss(at now: Instant) -> (share: Double, meanBurst: Double) {
        guard let pattern, now - pattern.at < Self.worth else { return (lossShare, 1 / max(1 - lossShare, 0.1)) }
        return (pattern.share, pattern.meanBurst)
    }

    /// Returns the share of lost packets as last reported, not smoothed.
    func lastLossShare(at now: Instant) -> Double {
        guard let pattern, now - pattern.at < Self.worth else { return lossShare }
        return pattern.told
    }

    /// Updates `pattern`. Random loss varies widely within a few seconds, so new values are smoothed. Only two changes
    /// take effect immediately: the end of all loss, and loss at least twice as high as before.
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

/// The receivers of our stream that send reports.
struct Receivers: Sendable {
    private(set) var all: [Receiver] = []
    /// The last reference time of each receiver and its arrival time, in order of arrival. It is removed when it is
    /// echoed.
    private var pendingEchoes: [(ssrc: SSRC, time: ShortNTPTime, at: Instant)] = []

    /// The maximum number of receivers, more than a person configures as remotes. Further receivers are ignored.
    private static let maximumCount = 32
    /// The time without reports after which a receiver is removed.
    private static let timeout = Duration.seconds(30)
    /// The maximum age of a reference time that is echoed. After that the drift of the two clocks falsifies the round
    /// trip.
    private static let longestEcho = Duration.seconds(15)

    /// Records the reference time of a known receiver. Returns whether it is the first from that address.
    mutating func referenceTimeArrived(_ time: ShortNTPTime, of ssrc: SSRC, at address: IPAddress, _ now: Instant)
        -> Bool
    {
        guard let index = all.firstIndex(where: { $0.ssrc == ssrc && $0.address == address }) else { return false }
        let isFirst = !all.contains { $0.address == address && $0.hasToldTime }
        all[index].hasToldTime = true
        pendingEchoes.removeAll { $0.ssrc == ssrc }
        pendingEchoes.append((ssrc, time, now))
        return isFirst
    }

    /// Returns echoes of the reference times that are not yet echoed, at most `limit`, oldest first.
    mutating func nextEchoes(limit: Int, at now: Instant) -> [TimeEcho] {
        pendingEchoes.removeAll { now - $0.at > Self.longestEcho }
        let echoes = pendingEchoes.prefix(limit).map { TimeEcho(teller: $0.ssrc, time: $0.time, delay: now - $0.at) }
        pendingEchoes.removeFirst(echoes.count)
        return echoes
    }

    /// Changes a receiver by `change`, and adds it before if it is new. If the list is full, a new receiver is ignored.
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

    /// Returns the capabilities that all receivers at `addresses` have in common. `told`, from a session description,
    /// is used for a receiver that has stated none, and for an address without a receiver. Returns nil if `told` is
    /// needed and is nil.
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

    /// Returns the share of lost packets and the mean burst length of the receiver that loses most; (0, 1) if there is
    /// none.
    func loss(at now: Instant) -> (share: Double, meanBurst: Double) {
        all.lazy.map { $0.loss(at: now) }.max { $0.share < $1.share } ?? (0, 1)
    }

    func lastLossShare(at now: Instant) -> Double { all.lazy.map { $0.lastLossShare(at: now) }.max() ?? 0 }

    var standingRoundTrip: Duration? { all.lazy.compactMap(\.roundTrip.standing).max() }

    var roundTrip: Duration? { all.lazy.compactMap(\.roundTrip.value).max() }

    /// The report interval of the receiver that reports least often.
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
