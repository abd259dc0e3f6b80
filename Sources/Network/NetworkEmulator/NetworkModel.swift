/// The impairments of one direction of a network. A plain value; `EmulatedLink` applies it to packets.
///
/// The impairments apply to a packet in the order of the properties. A new model has no impairment.
public struct NetworkModel: Hashable, Sendable {
    /// The slowest link of the path; nil for unlimited bandwidth.
    public var bottleneck: Bottleneck?
    public var loss: Loss
    public var stalls: Stalls?
    /// The constant delay of cables and routers.
    public var delay: Duration
    /// A random delay that is added for each packet.
    public var jitter: Distribution?
    public var detour: Detour?
    /// Measured delays and losses, in addition to the random ones.
    public var trace: Trace?
    /// Whether a packet waits for the packets sent before it. If false, a packet with a short delay overtakes an
    /// earlier packet with a longer delay.
    public var keepsOrder: Bool
    /// The packets that are held back, so that later packets overtake them; nil for none. `keepsOrder` does not restore
    /// the order of these packets.
    public var reordering: Reordering?
    public var duplication: Duplication?

    public init(
        bottleneck: Bottleneck? = nil, loss: Loss = .none, stalls: Stalls? = nil, delay: Duration = .zero,
        jitter: Distribution? = nil, detour: Detour? = nil, trace: Trace? = nil, keepsOrder: Bool = false,
        reordering: Reordering? = nil, duplication: Duplication? = nil
    ) {
        self.bottleneck = bottleneck
        self.loss = loss
        self.stalls = stalls
        self.delay = delay
        self.jitter = jitter
        self.detour = detour
        self.trace = trace
        self.keepsOrder = keepsOrder
        self.reordering = reordering
        self.duplication = duplication
    }
}

/// Holds some packets back, so that packets sent later arrive before them.
public struct Reordering: Hashable, Sendable {
    /// The proportion of the packets that are held back, 0…1.
    public var share: Double
    /// The time for which a packet is held back. Only packets sent within this time overtake it.
    public var heldBack: Duration

    public init(share: Double, heldBack: Duration = .milliseconds(50)) {
        self.share = share
        self.heldBack = heldBack
    }
}

/// Delivers some packets twice.
public struct Duplication: Hashable, Sendable {
    /// The proportion of the delivered packets that are delivered twice, 0…1.
    public var share: Double
    /// The time from the first delivery to the second.
    public var after: Duration

    public init(share: Double, after: Duration = .milliseconds(1)) {
        self.share = share
        self.after = after
    }
}
