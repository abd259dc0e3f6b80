public import TenfourAudioCore

/// The delay that recovery needs, so that copies and retransmissions arrive before their audio is due.
///
/// The RTP session, which negotiates recovery, may set the demand at any time. Playout then moves to the new delay in a
/// pause or by time-scaling.
public struct RecoveryDemand: BitwiseCopyable, Hashable, Sendable {
    /// The time from the sending of a packet to the sending of its last copy. Zero without copies.
    public var lookAhead: FrameCount
    /// The playout delay at which a retransmission arrives in time, measured from the arrival of the fastest packet.
    /// Zero without retransmission.
    public var retransmissionTime: FrameCount
    /// The maximum playout delay that recovery may request, measured from the arrival of the fastest packet. It does
    /// not limit the delay that the packets' own jitter requires.
    public var limit: FrameCount

    /// Creates a demand without recovery; `limit` is 100 ms.
    @_noAllocation @_noLocks
    public init() { self.init(lookAhead: FrameCount(0), retransmissionTime: FrameCount(0), limit: FrameCount(4_800)) }

    @_noAllocation @_noLocks
    public init(lookAhead: FrameCount, retransmissionTime: FrameCount, limit: FrameCount) {
        self.lookAhead = lookAhead
        self.retransmissionTime = retransmissionTime
        self.limit = limit
    }
}
