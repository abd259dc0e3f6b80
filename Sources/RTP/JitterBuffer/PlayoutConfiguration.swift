public import TenfourAudioCore

/// How a lane weighs delay against late packets.
public struct PlayoutConfiguration: Hashable, Sendable {
    public enum Delay: Hashable, Sendable {
        /// As deep as the last half minute of arrivals asks for.
        case adaptive
        /// So far behind the fastest packet, always.
        case fixed(FrameCount)
    }

    public var playoutDelay: Delay
    /// The share of half seconds whose slowest packet may come too late for an adaptive depth, 0…1.
    public var lateShare: Double
    /// What every packet must be early by: one pull, since a packet is needed when the pull that holds its first frame
    /// begins, and how late the pulling thread may wake.
    public var margin: FrameCount
    /// An adaptive depth never lies below this.
    public var minimum: FrameCount
    /// An adaptive depth never lies above this.
    public var maximum: FrameCount
    /// What repair needs of each talker until it is told.
    public var recovery: RecoveryDemand

    public init(
        playoutDelay: Delay = .adaptive, lateShare: Double = 0.05, margin: FrameCount = FrameCount(312),
        minimum: FrameCount = .zero, maximum: FrameCount = FrameCount(48_000), recovery: RecoveryDemand = .init()
    ) {
        self.playoutDelay = playoutDelay
        self.lateShare = lateShare
        self.margin = margin
        self.minimum = minimum
        self.maximum = maximum
        self.recovery = recovery
    }

    /// Of how many packets the queue must have room so that none is refused at the deepest, though each be the shortest there is
    /// (2.5 ms). A power of two.
    var packetCapacity: Int {
        var deepest = maximum
        if case .fixed(let playoutDelay) = playoutDelay { deepest = playoutDelay }
        var capacity = 256
        while capacity * 120 < deepest.rawValue && capacity < 4_096 { capacity *= 2 }
        return capacity
    }
}
