internal import TenfourAudioCore

/// Measures how packets arrive and says how far playout should lie behind the talker's timestamps.
///
/// Delays count from the talker's timestamps to the card's clock: only their differences have a meaning.
/// Playback thread. Nothing is allocated after `init`.
struct DelayControl: ~Copyable, Sendable {
    /// The playout delay less the target delay: above zero, playout lies further behind than it should.
    private(set) var error = FrameCount(0)
    /// Whether the target delay includes time in which lost packets are recovered.
    private(set) var includesRecovery = false

    private let configuration: PlayoutConfiguration
    private var delays = DelayEstimate()
    private var drift = DriftEstimate()
    private var rate = RateControl()
    private var target: TargetDelay
    /// The position of the card's last request. A card that requests several periods at once runs ahead of its clock.
    private var requestedPosition: FrameCount?
    /// Until this position the delay does not shrink: packets were late, the newest one included, so the route may be longer now.
    private var heldUntil = FrameCount(0)

    /// A change of the route is known within 1.5 s.
    private static var holdTime: FrameCount { FrameCount(72_000) }
    /// An error above zero is tolerated up to 1/8 of the target delay.
    private static var toleratedShare: Int { 8 }

    init(configuration: PlayoutConfiguration) {
        self.configuration = configuration
        target = TargetDelay(configuration)
    }

    /// The delay of the fastest packet; nil before the first.
    var base: FrameCount? { @_noAllocation @_noLocks get { delays.base } }
    /// The delay of the packet that was inserted last.
    var newest: FrameCount { @_noAllocation @_noLocks get { delays.newestDelay } }
    /// By how many parts per million the resampler should play faster (above zero) or slower than the card's clock.
    var ratePartsPerMillion: Float { @_noAllocation @_noLocks get { rate.partsPerMillion } }
    /// The talker's clock against the card's, in parts per million; above zero where the talker's is slower.
    var driftPartsPerMillion: Float { @_noAllocation @_noLocks get { Float(drift.partsPerMillion) } }

    /// The delay at which playout should lie. `lookAhead` is the time that in-band FEC needs.
    @_noAllocation @_noLocks
    func targetDelay(lookAhead: FrameCount) -> FrameCount {
        guard let base = delays.base, let slow = delays.delay(exceptFor: configuration.lateShare) else { return .zero }
        return base + target.playoutDelay(spread: slow - base, lookAhead: lookAhead)
    }

    /// Records an original packet that begins at `start` in the talker's time and arrived at the position `arrival`.
    ///
    /// A card that requests in bursts is ahead of its clock after each of them: a packet that arrives before the clock has
    /// come to the requested position is as good as one that arrives then.
    @_noAllocation @_noLocks
    mutating func insert(start: FrameCount, at arrival: FrameCount) {
        let available = max(arrival, requestedPosition ?? arrival)
        delays.insert(available - start, at: arrival, driftPartsPerMillion: drift.partsPerMillion)
        drift.insert(arrival - start, at: arrival)
    }

    /// Compares the playout delay with the target delay, and sets the error and the rate.
    @_noAllocation @_noLocks
    mutating func update(playoutDelay: FrameCount, target: FrameCount, lookAhead: FrameCount, at now: FrameCount) {
        includesRecovery = self.target.includesRecovery(lookAhead: lookAhead)
        error = playoutDelay - target
        // A delay that is a little too long is left as it is: before long it would be needed again.
        if error > .zero {
            error = max(error - FrameCount((target - (delays.base ?? target)).rawValue / Self.toleratedShare), .zero)
        }
        if now < heldUntil { error = min(error, .zero) }
        rate.update(delayError: error, driftPartsPerMillion: Float(drift.partsPerMillion))
    }

    /// Keeps the delay from shrinking for 1.5 s.
    @_noAllocation @_noLocks
    mutating func hold(at now: FrameCount) { heldUntil = now + Self.holdTime }

    /// The card requests audio from `position` on.
    @_noAllocation @_noLocks
    mutating func recordRequest(from position: FrameCount) { requestedPosition = position }

    /// Sets what copies and retransmissions need.
    @_noAllocation @_noLocks
    mutating func setRecoveryDemand(_ demand: RecoveryDemand) { target.recovery = demand }

    /// Moves all that was measured by `frames`, because the card's clock was set.
    @_noAllocation @_noLocks
    mutating func shift(by frames: FrameCount) {
        delays.shift(by: frames)
        drift.shift(by: frames)
        requestedPosition = requestedPosition.map { $0 + frames }
    }

    /// Forgets the delays: the talker's numbers have jumped. The drift and the rate stay, since the clocks are the same.
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
