/// Distinguishes bursts of loss from single losses, packet by packet, as RFC 3611 section 4.7.2 defines them: a burst
/// begins and ends with a loss and contains no run of `minimumGap` or more received packets. Between bursts lie gaps.
public struct BurstMetrics: Hashable, Sendable {
    public static let minimumGap = 16

    public private(set) var packetCount = 0
    public private(set) var lossCount = 0
    /// The number of losses that followed a received packet. `lossCount` divided by this is the mean number of losses
    /// in a row.
    public private(set) var runCount = 0
    /// Packets within bursts, the losses among them, and the number of bursts. A single loss is not a burst.
    public private(set) var burstPacketCount = 0
    public private(set) var burstLossCount = 0
    public private(set) var burstCount = 0

    /// The stretch that may become a burst, from its first loss on.
    private var openPackets = 0
    private var openLosses = 0
    /// Packets received since the last loss.
    private var received = 0
    /// Packets of the open stretch up to its last loss.
    private var packetsToLastLoss = 0

    public init() {}

    /// Counts the next packet in order.
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

    /// The mean number of losses in a row within bursts; 1 if losses are single.
    public var meanBurstLength: Double {
        burstCount > 0 ? Double(burstPacketCount) / Double(burstCount) : lossCount > 0 ? 1 : 0
    }

    /// Adds the counts of earlier packets. A burst that was open there ends with them.
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
