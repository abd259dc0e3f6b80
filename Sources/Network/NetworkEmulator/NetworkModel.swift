/// The impairments of one direction of a network. A plain value; `EmulatedLink` applies it to packets.
///
/// A packet meets the parts in the order in which they stand here. A fresh model does nothing at all.
public struct NetworkModel: Hashable, Sendable {
    /// The narrow place; nil when the way is as wide as one likes.
    public var bottleneck: Bottleneck?
    public var loss: Loss
    public var stalls: Stalls?
    /// The constant delay of cables and routers.
    public var delay: Duration
    /// The random delay that is added for each packet.
    public var jitter: Distribution?
    public var detour: Detour?
    /// Measured fates, added to the drawn ones: what the trace calls lost is lost, its delays come on top.
    public var trace: Trace?
    /// Whether a packet waits for the ones sent before it. Otherwise a short delay overtakes a long one.
    public var keepsOrder: Bool
    /// Packets that fall behind; never kept in order.
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

/// Some packets are held back, and those sent after them come first.
public struct Reordering: Hashable, Sendable {
    /// Of the packets, 0…1.
    public var share: Double
    /// How long such a packet is held back. It is overtaken only by packets sent within this time.
    public var heldBack: Duration

    public init(share: Double, heldBack: Duration = .milliseconds(50)) {
        self.share = share
        self.heldBack = heldBack
    }
}

/// Some packets come twice.
public struct Duplication: Hashable, Sendable {
    /// Of the packets that are not lost, 0…1.
    public var share: Double
    /// How long after the first the second one comes.
    public var after: Duration

    public init(share: Double, after: Duration = .milliseconds(1)) {
        self.share = share
        self.after = after
    }
}
