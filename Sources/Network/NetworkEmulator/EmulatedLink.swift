public import TenfourAudioCore
internal import TenfourSeededRandom

/// One direction of an emulated link. It determines the fate of each packet: lost, or delivered at a certain time.
///
/// The result depends only on the seed and on the order, sizes and times of the packets so far. Each effect has its own
/// random number generator, and draws from it for every packet, lost or not. Adding one effect therefore does not
/// change the draws of another. Pass packets in the order in which they are sent.
public struct EmulatedLink: Sendable {
    private let network: NetworkModel
    private let delay: Int64
    private var beginning: Instant?
    private var packetCount = 0

    private var bottleneck: BottleneckQueue?
    private var loss: LossProcess
    private var stalls: StallProcess?
    private var jitterGenerator: SeededRandom
    private var reorderingGenerator: SeededRandom
    private var duplicationGenerator: SeededRandom
    private var lastDelivery = Instant(nanoseconds: .min)

    /// Creates a link that begins at `beginning`; the times of stalls, detours and timed traces are counted from there.
    /// If it is nil, the link begins with its first packet.
    public init(_ network: NetworkModel, seed: UInt64, beginning: Instant? = nil) {
        self.network = network
        self.beginning = beginning
        delay = network.delay.asDelay
        // Seeds one generator for each effect. The order must stay, because it decides which seed an effect gets: add
        // new effects at the end.
        var seeds = SplitMix64(state: seed)
        loss = LossProcess(network.loss, generator: SeededRandom(seed: seeds.next()))
        jitterGenerator = SeededRandom(seed: seeds.next())
        let stallGenerator = SeededRandom(seed: seeds.next())
        stalls = network.stalls.map { StallProcess($0, generator: stallGenerator) }
        reorderingGenerator = SeededRandom(seed: seeds.next())
        duplicationGenerator = SeededRandom(seed: seeds.next())
        bottleneck = network.bottleneck.map { BottleneckQueue($0) }
    }

    /// Returns the fate of the next packet, `byteCount` bytes long without IP and UDP headers and sent at `now`.
    /// Allocates nothing.
    public mutating func fate(ofPacket byteCount: Int, at now: Instant) -> Fate {
        let beginning = self.beginning ?? now
        self.beginning = beginning
        // Limits the time since the beginning to ± 36 years, so that the sums below do not overflow for any instant.
        let sent = min(max(now.nanoseconds &- beginning.nanoseconds, -1 << 60), 1 << 60)

        let isLost = loss.losesNext()
        let jitter = network.jitter?.draw(from: &jitterGenerator) ?? 0
        let isHeldBack = reorderingGenerator.happens(network.reordering?.share ?? 0)
        let isDoubled = duplicationGenerator.happens(network.duplication?.share ?? 0)
        let measured = network.trace?.entry(forPacket: packetCount, at: sent) ?? .delayed(.zero)
        packetCount += 1

        var time = sent
        if bottleneck != nil {
            guard let departure = bottleneck?.departure(ofPacket: byteCount, at: time) else { return .lost(.queueFull) }
            time = departure
        }
        if isLost { return .lost(.chance) }
        guard case .delayed(let measuredDelay) = measured else { return .lost(.trace) }
        if let release = stalls?.release(ofPacketSentAt: time) { time = release }
        time += delay + jitter + (network.detour?.delay(at: sent) ?? 0) + measuredDelay.asDelay

        var delivery = Instant(nanoseconds: beginning.nanoseconds &+ time)
        if network.keepsOrder { delivery = max(delivery, lastDelivery) }
        lastDelivery = delivery
        if isHeldBack, let reordering = network.reordering { delivery = delivery + reordering.heldBack }
        guard isDoubled, let duplication = network.duplication else { return .delivered(at: delivery) }
        return .doubled(at: delivery, and: delivery + duplication.after)
    }
}

/// The fate of one packet.
public enum Fate: Hashable, Sendable {
    case lost(LossReason)
    case delivered(at: Instant)
    /// The packet is delivered twice.
    case doubled(at: Instant, and: Instant)
}

/// The reason why a packet is lost.
public enum LossReason: Hashable, Sendable, CaseIterable {
    /// The packet was lost by the model's `loss`.
    case chance
    /// The packet was dropped because the queue of the bottleneck was full.
    case queueFull
    /// The packet was lost according to the trace.
    case trace
}
