public import TenfourAudioCore

/// The settings of a jitter buffer: how it weighs delay against late packets.
public struct PlayoutConfiguration: Hashable, Sendable {
    public enum Delay: Hashable, Sendable {
        /// The delay that the arrivals of the last half minute require.
        case adaptive
        /// A constant delay, measured from the arrival of the fastest packet.
        case fixed(FrameCount)
    }

    public var playoutDelay: Delay
    /// The proportion of half seconds, 0…1, whose slowest packet may arrive too late. It determines an adaptive delay.
    public var lateShare: Double
    /// The time by which each packet must arrive early: the duration of one pull, plus the time by which the pulling
    /// thread may wake late. A packet is needed when the pull with its first frame begins.
    public var margin: FrameCount
    /// The minimum of an adaptive delay.
    public var minimum: FrameCount
    /// The maximum of an adaptive delay.
    public var maximum: FrameCount
    /// The maximum age of the packet with which playout begins again after a stall of the network, counted from the arrival
    /// of the fastest packet; the target delay if that is longer. Older packets are dropped. Up to this age nothing is
    /// lost, and the delay shrinks again by a faster tempo.
    public var longestStall = FrameCount(240_000)
    /// The time that recovery needs, for each talker until the first call of `setRecoveryDemand`.
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

    /// The number of packets that the queue must hold at the longest delay with the maximum lead (`TalkerLead`) and 100 ms
    /// more, if each packet is as short as possible (2.5 ms). A power of two.
    var packetCapacity: Int {
        var deepest = maximum
        if case .fixed(let playoutDelay) = playoutDelay { deepest = playoutDelay }
        deepest += TalkerLead.longest(self)
        var capacity = 256
        while capacity * 120 < deepest.rawValue + 4_800 && capacity < 4_096 { capacity *= 2 }
        return capacity
    }
}
