internal import TenfourAudioCore

/// How far playout should lie behind the fastest packet: what the delays ask for, and what repair asks for on top.
struct TargetDelay: Sendable {
    var recovery: RecoveryDemand

    private let configuration: PlayoutConfiguration

    @_noAllocation @_noLocks
    init(_ configuration: PlayoutConfiguration) {
        self.configuration = configuration
        recovery = configuration.recovery
    }

    /// `spread`: how far the slow packets lie behind the fastest. `lookAhead`: what in-band FEC needs.
    @_noAllocation @_noLocks
    func playoutDelay(spread: FrameCount, lookAhead: FrameCount) -> FrameCount {
        switch configuration.playoutDelay {
        case .fixed(let playoutDelay):
            return max(playoutDelay, configuration.margin)
        case .adaptive:
            let needed = spread + margin(spread: spread)
            let copied = needed + max(lookAhead, recovery.lookAhead)
            let retransmitted =
                recovery.retransmissionTime > .zero ? recovery.retransmissionTime + configuration.margin : .zero
            let recoverable = min(max(copied, retransmitted), recovery.limit)
            return min(max(max(needed, recoverable), configuration.minimum), configuration.maximum)
        }
    }

    /// Whether a part of the depth is for repair.
    @_noAllocation @_noLocks
    func includesRecovery(lookAhead: FrameCount) -> Bool {
        max(lookAhead, recovery.lookAhead) > .zero || recovery.retransmissionTime > .zero
    }

    /// A packet is needed somewhere within the pull before its sound. Where all come alike it may always be at the far end
    /// of it; where they spread much wider than a pull it is on average in the middle.
    private func margin(spread: FrameCount) -> FrameCount {
        let wider = min(max(spread - configuration.margin, .zero), configuration.margin)
        return configuration.margin - FrameCount(wider.rawValue / 2)
    }
}
