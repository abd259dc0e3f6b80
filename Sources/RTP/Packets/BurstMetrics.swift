/// Tells bursts of loss from single ones, packet by packet, as RFC 3611 section 4.7.2 defines them: a burst begins and ends
/// with a loss and has fewer than `minimumGap` packets in a row that came; between bursts lie gaps.
public struct BurstMetrics: Hashable, Sendable {
    public static let minimumGap = 16

    public private(set) var packetCount = 0
    public private(set) var lossCount = 0
    /// How often a loss followed a packet that came: so many losses in a row, on average, as `lossCount` divided by this.
    public private(set) var runCount = 0
    /// Packets within bursts, the losses among them, and how many bursts there were. A single loss is no burst.
    public private(set) var burstPacketCount = 0
    public private(set) var burstLossCount = 0
    public private(set) var burstCount = 0

    /// The stretch that may become a burst: from its first loss on.
    private var openPackets = 0
    private var openLosses = 0
    /// Packets that came since the last loss.
    private var received = 0
    /// In the open stretch, up to its last loss.
    private var packetsToLastLoss = 0

    public init() {}

    /// The next packet in order came, or did not.
    public mutating func count(isLost: Bool) {
        packetCount += 1
        if openPackets > 0 { openPackets += 1 }
        if isLost {
            lossCount += 1
            if openPackets == 0 || received > 0 { runCount += 1 }
            if openPackets == 0 { openPackets = 1 }
            openLosses += 1
            packetsToLastLoss = openPackets
            received = 0
        } else {
            received += 1
            if received >= Self.minimumGap { close() }
        }
    }

    /// Mean losses in a row of what was lost in bursts; 1 where losses are single.
    public var meanBurstLength: Double {
        burstCount > 0 ? Double(burstPacketCount) / Double(burstCount) : lossCount > 0 ? 1 : 0
    }

    /// Adds what was counted of other packets, before these: a burst that was not over there ends with them.
    public mutating func add(_ earlier: Self) {
        var earlier = earlier
        earlier.close()
        packetCount += earlier.packetCount
        lossCount += earlier.lossCount
        runCount += earlier.runCount
        burstPacketCount += earlier.burstPacketCount
        burstLossCount += earlier.burstLossCount
        burstCount += earlier.burstCount
    }

    private mutating func close() {
        if openLosses > 1 {
            burstCount += 1
            burstPacketCount += packetsToLastLoss
            burstLossCount += openLosses
        }
        (openPackets, openLosses, packetsToLastLoss) = (0, 0, 0)
    }
}
