public import TenfourAudioCore

/// The delay that recovery needs, so that copies and retransmissions come before their audio is due.
///
/// The RTP session, which negotiates them, may set it at any time. Playout then moves to the new delay as to any other,
/// in a pause or by time-scaling.
public struct RecoveryDemand: BitwiseCopyable, Hashable, Sendable {
    /// How long after a packet its last copy comes. Zero without copies.
    public var lookAhead: FrameCount
    /// How long after the fastest arrival a retransmission may come. Zero without retransmission.
    public var retransmissionTime: FrameCount
    /// The longest delay for recovery, counted from the fastest arrival. It does not limit the delay that the packets'
    /// own jitter requires.
    public var limit: FrameCount

    /// No recovery.
    @_noAllocation @_noLocks
    public init() { self.init(lookAhead: FrameCount(0), retransmissionTime: FrameCount(0), limit: FrameCount(4_800)) }

    @_noAllocation @_noLocks
    public init(lookAhead: FrameCount, retransmissionTime: FrameCount, limit: FrameCount) {
        self.lookAhead = lookAhead
        self.retransmissionTime = retransmissionTime
        self.limit = limit
    }
}
