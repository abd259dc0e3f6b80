internal import TenfourAudioCore

/// Computes the target delay, measured from the arrival of the fastest packet. It is the delay that jitter requires,
/// plus an additional delay for recovery.
struct TargetDelay: Sendable {
    var recovery: RecoveryDemand

    private let configuration: PlayoutConfiguration

    @_noAllocation @_noLocks
    init(_ configuration: PlayoutConfiguration) {
        self.configuration = configuration
        recovery = configuration.recovery
    }

    /// Returns the target delay. `spread` is the delay of the slow packets less the delay of the fastest packet;
    /// `jitter` is the same, but without the packets before the route became longer. `lookAhead` is the time that
    /// in-band FEC needs.
    @_noAllocation @_noLocks
    func playoutDelay(spread: FrameCount, jitter: FrameCount, lookAhead: FrameCount) -> FrameCount {
        switch configuration.playoutDelay {
        case .fixed(let playoutDelay):
            return max(playoutDelay, configuration.margin)
        case .adaptive:
            let needed = spread + margin(jitter: jitter)
            let copied = needed + max(lookAhead, recovery.lookAhead)
            let retransmitted =
                recovery.retransmissionTime > .zero ? recovery.retransmissionTime + configuration.margin : .zero
            let recoverable = min(max(copied, retransmitted), recovery.limit)
            return min(max(max(needed, recoverable), configuration.minimum), configuration.maximum)
        }
    }

    /// Whether the target delay includes time for the recovery of lost packets.
    @_noAllocation @_noLocks
    func includesRecovery(lookAhead: FrameCount) -> Bool {
        max(lookAhead, recovery.lookAhead) > .zero || recovery.retransmissionTime > .zero
    }

    /// Returns the time by which a packet must arrive early. The card pulls audio in blocks, so a packet is needed up
    /// to one pull before its audio is due. If all packets arrive at the same time within a pull, this may be a whole
    /// pull. If the arrivals spread over much more than a pull, it is half a pull on average.
    private func margin(jitter: FrameCount) -> FrameCount {
        let wider = max(jitter - configuration.margin, .zero)
        return configuration.margin - FrameCount(min(wider.rawValue / 4, configuration.margin.rawValue / 2))
    }
}
