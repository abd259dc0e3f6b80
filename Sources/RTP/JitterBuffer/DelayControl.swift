internal import TenfourAudioCore

/// Measures the delays of packets, and computes the target delay and the error of the playout delay.
///
/// A delay is a position on the card's clock minus a timestamp of the talker. Only differences of delays have a
/// meaning. Use it on the playback thread only. Nothing is allocated after `init`.
struct DelayControl: ~Copyable, Sendable {
    /// The playout delay less the target delay; positive if playout is too late.
    private(set) var error = FrameCount(0)
    /// Whether the target delay includes time for the recovery of lost packets.
    private(set) var includesRecovery = false

    private let configuration: PlayoutConfiguration
    private var delays = DelayEstimate()
    private var drift = DriftEstimate()
    private var rate = RateControl()
    private var target: TargetDelay
    /// The position of the card's last request; nil if it is not reported. If the card makes several requests at a
    /// time, this position is ahead of the card's clock.
    private var requestedPosition: FrameCount?
    /// The position until which the playout delay does not shrink. It is set when an underrun ends and the newest
    /// packet was late, too. The route may then have become longer.
    private var heldUntil = FrameCount(0)

    /// The time for which `hold` keeps the playout delay from shrinking: 1.5 s. A change of the route is detected
    /// within this time.
    private static var holdTime: FrameCount { FrameCount(72_000) }
    /// The number by which the delay that jitter needs is divided to get the tolerated error. A playout delay that is too
    /// long by at most this error stays.
    private static var toleratedShare: Int { 8 }

    init(configuration: PlayoutConfiguration) {
        self.configuration = configuration
        target = TargetDelay(configuration)
    }

    /// The maximum age of the packet with which playout begins again after a stall.
    var longestStall: FrameCount { @_noAllocation @_noLocks get { configuration.longestStall } }
    /// The delay of the fastest packet; nil before the first packet.
    var base: FrameCount? { @_noAllocation @_noLocks get { delays.base } }
    /// The delay of the packet that was inserted last.
    var newest: FrameCount { @_noAllocation @_noLocks get { delays.newestDelay } }
    /// The correction of the playout speed by the resampler, in parts per million of the card's clock; positive plays
    /// faster.
    var ratePartsPerMillion: Float { @_noAllocation @_noLocks get { rate.partsPerMillion } }
    /// The difference between the talker's clock and the card's, in parts per million; positive if the talker's is
    /// slower.
    var driftPartsPerMillion: Float { @_noAllocation @_noLocks get { Float(drift.partsPerMillion) } }

    /// Returns the target delay. `lookAhead` is the time that in-band FEC needs.
    @_noAllocation @_noLocks
    func targetDelay(lookAhead: FrameCount) -> FrameCount {
        guard let base = delays.base, let slow else { return .zero }
        let jitter = slow - (delays.baseOfRoute ?? base)
        return base + target.playoutDelay(spread: slow - base, jitter: jitter, lookAhead: lookAhead)
    }

    /// Returns the playout delay of a talk that is joined in the middle, whose jitter is unknown. `target` is the target
    /// delay.
    @_noAllocation @_noLocks
    func joinDelay(target: FrameCount) -> FrameCount {
        guard case .adaptive = configuration.playoutDelay, let base = delays.base else { return target }
        return max(target, base + min(JoinedTalk.reserve, configuration.maximum))
    }

    /// Records an original packet that begins at `start` in the talker's time and arrived at the position `arrival`.
    /// `startsTalkspurt` is true for the first packet of a talkspurt, `hasWaited` for one that waited before it was read.
    ///
    /// If the card requests in bursts, `requestedPosition` is ahead of its clock after each burst. A packet that
    /// arrives before the clock reaches `requestedPosition` counts as if it had arrived at that position.
    @_noAllocation @_noLocks
    mutating func insert(
        start: FrameCount, at arrival: FrameCount, startsTalkspurt: Bool, hasWaited: Bool = false
    ) {
        let available = max(arrival, requestedPosition ?? arrival)
        delays.insert(
            available - start, at: arrival, startsTalkspurt: startsTalkspurt, hasWaited: hasWaited,
            driftPartsPerMillion: drift.partsPerMillion)
        if !hasWaited { drift.insert(arrival - start, at: arrival) }
    }

    /// Compares the playout delay with the target delay, and sets `error` and the playout speed.
    @_noAllocation @_noLocks
    mutating func update(playoutDelay: FrameCount, target: FrameCount, lookAhead: FrameCount, at now: FrameCount) {
        includesRecovery = self.target.includesRecovery(lookAhead: lookAhead)
        error = playoutDelay - target
        // Ignores a small positive error: if the delay is a little too long, jitter will soon need it again.
        if error > .zero {
            error = max(error - toleratedError(for: target), .zero)
        }
        if now < heldUntil { error = min(error, .zero) }
        rate.update(delayError: error, driftPartsPerMillion: Float(drift.partsPerMillion))
    }

    /// Returns the error that is tolerated. A longer route and the recovery of lost packets also lengthen the target
    /// delay, but jitter will not need this time again.
    private func toleratedError(for target: FrameCount) -> FrameCount {
        guard let base = delays.baseOfRoute, let slow else { return .zero }
        let needed = max(slow - base, .zero) + configuration.margin
        return FrameCount(max(min(needed, target - base), .zero).rawValue / Self.toleratedShare)
    }

    /// The delay of slow packets; nil before the first packet.
    private var slow: FrameCount? {
        delays.delay(exceptFor: configuration.lateShare, driftError: drift.reduction)
    }

    /// Keeps the playout delay from shrinking for 1.5 s.
    @_noAllocation @_noLocks
    mutating func hold(at now: FrameCount) { heldUntil = now + Self.holdTime }

    /// Records that the card requests audio from `position` on.
    @_noAllocation @_noLocks
    mutating func recordRequest(from position: FrameCount) { requestedPosition = position }

    /// Sets the delay that copies and retransmissions need.
    @_noAllocation @_noLocks
    mutating func setRecoveryDemand(_ demand: RecoveryDemand) { target.recovery = demand }

    /// Adds `frames` to the measured delays. The card's clock was adjusted, and the positions of later arrivals are
    /// greater by this number.
    @_noAllocation @_noLocks
    mutating func shift(by frames: FrameCount) {
        delays.shift(by: frames)
        drift.shift(by: frames)
        requestedPosition = requestedPosition.map { $0 + frames }
    }

    /// Forgets the delays, because the talker's sequence numbers or timestamps have jumped. The drift and the playout
    /// speed stay, because the clocks are the same.
    @_noAllocation @_noLocks
    mutating func restart() {
        delays.removeAll()
        heldUntil = .zero
    }

    /// Forgets everything, for another talker.
    @_noAllocation @_noLocks
    mutating func reset() {
        restart()
        drift = DriftEstimate()
        rate = RateControl()
        target = TargetDelay(configuration)
        requestedPosition = nil
    }
}
