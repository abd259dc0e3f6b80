/// Distinguishes bursts of loss from single losses, packet by packet, as RFC 3611 section 4.7.2 defines them. A burst
/// begins and ends with a loss. Within a burst fewer than `minimumGap` packets in a row are received. The packets
/// between two bursts are a gap.
public struct BurstMetrics: Hashable, Sendable {
    public static let minimumGap = 16

    public private(set) var packetCount = 0
    public private(set) var lossCount = 0
    /// The number of losses that followed a received packet. `lossCount` divided by this number is the mean number of
    /// losses in a row.
    public private(set) var runCount = 0
    /// The number of packets within bursts. A single loss is not a burst.
    public private(set) var burstPacketCount = 0
    /// The number of losses within bursts.
    public private(set) var burstLossCount = 0
    /// The number of bursts.
    public private(set) var burstCount = 0

    /// The number of packets since the first loss of a burst that may be going on, including this loss; zero if there
    /// is none.
    private var openPackets = 0
    /// The number of losses since the first loss of a burst that may be going on, including this loss.
    private var openLosses = 0
    /// The number of packets received since the last loss.
    private var received = 0
    /// The number of packets from the first loss to the last loss of a burst that may be going on.
    private var packetsToLastLoss = 0

    public init() {}

    /// Counts the next packet in sequence order.
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

    /// The mean length of a burst, in packets from its first loss to its last; 1 if all losses are single, 0 without
    /// loss.
    public var meanBurstLength: Double {
        burstCount > 0 ? Double(burstPacketCount) / Double(burstCount) : lossCount > 0 ? 1 : 0
    }

    /// Adds the counts of an earlier part of the stream. A burst that has not ended in that part ends with it.
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
