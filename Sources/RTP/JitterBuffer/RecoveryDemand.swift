public import TenfourAudioCore

/// What the depth must leave room for, so that what mends a loss comes before its sound is due.
///
/// Whoever agrees with the talker on copies and resends says so, at any time; playout goes there as to any other depth, in
/// a silence or by tempo.
public struct RecoveryDemand: BitwiseCopyable, Hashable, Sendable {
    /// How long after a packet its last copy comes: the distance of the copies. Zero where there are none.
    public var lookAhead: FrameCount
    /// How long after the fastest arrival a packet could have had a resend of it may come. Zero where nothing is resent.
    public var retransmissionTime: FrameCount
    /// What repair may raise the depth to, counted from the fastest arrival. What the delays of the packets themselves ask
    /// for is not cut by it.
    public var limit: FrameCount

    /// Nothing is repaired.
    @_noAllocation @_noLocks
    public init() { self.init(lookAhead: FrameCount(0), retransmissionTime: FrameCount(0), limit: FrameCount(4_800)) }

    @_noAllocation @_noLocks
    public init(lookAhead: FrameCount, retransmissionTime: FrameCount, limit: FrameCount) {
        self.lookAhead = lookAhead
        self.retransmissionTime = retransmissionTime
        self.limit = limit
    }
}
