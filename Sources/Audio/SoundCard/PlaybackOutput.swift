package import TenfourAudioCore

/// A playback output: a card, or the monotonic clock if there is no card.
package struct PlaybackOutput: ~Copyable, Sendable {
    package enum DeviceEvent {
        /// The output demands `period` frames.
        case demand(requestedAt: Instant, shift: FrameCount, playedAt: Instant)
        case interrupted(Interruption)
        /// The card has not begun to play yet.
        case starting
    }

    package let format: LPCMFormat
    package let period: FrameCount
    /// The format of the opened card; nil without a card.
    package let granted: NegotiatedFormat?
    /// Collects the differences between a reopened card and the card before its loss; nil without a card.
    package let changes: CardChanges?
    private var card: PlaybackCard?
    private var timer: PeriodTimer

    /// Opens a card at the supported rate nearest to `rate`. `queuedPeriods` is the largest number of periods queued in
    /// the card. For `isPrecise` see `PlaybackCard`.
    package init(
        card name: String, channelCount: Int, rate: SampleRate = .opus, period: Duration, queuedPeriods: Double,
        isPrecise: Bool = false
    ) throws(SoundCardError) {
        let wanted = FrameCount(period, at: rate)
        let card = try PlaybackCard(
            device: name, format: LPCMFormat(rate: rate, channelCount: channelCount), period: wanted,
            target: FrameCount(Int(Double(wanted.rawValue) * queuedPeriods)), isPrecise: isPrecise)
        granted = card.granted
        changes = card.changes
        format = card.granted.format
        self.period = card.granted.period
        timer = PeriodTimer(rate: card.granted.format.rate)
        self.card = consume card
    }

    /// Creates an output without a card.
    package init(clockWithChannelCount channelCount: Int, period: Duration) {
        self.init(clock: LPCMFormat(channelCount: channelCount), period: FrameCount(period))
    }

    /// Creates an output without a card. `format` is the format of a card that another loop feeds.
    package init(clock format: LPCMFormat, period: FrameCount) {
        granted = nil
        changes = nil
        self.format = format
        self.period = period
        timer = PeriodTimer(rate: format.rate)
        card = nil
    }

    /// Makes the card queue more frames unless `priority` shows that the waiting thread was granted real-time priority.
    package mutating func fit(_ priority: RealTime) {
        if case .granted = priority { return }
        card?.allowForLateWakeups()
    }

    @_noAllocation @_noLocks
    package mutating func wait() -> DeviceEvent {
        switch card?.wait() {
        case .none: tick(timer.wait(for: period.rawValue).due)
        case .demand(let demand):
            .demand(requestedAt: demand.requestedAt, shift: demand.shift, playedAt: demand.playedAt)
        case .interrupted(let interruption): .interrupted(interruption)
        case .starting: .starting
        }
    }

    @_noAllocation @_noLocks
    private func tick(_ due: Instant) -> DeviceEvent { .demand(requestedAt: due, shift: .zero, playedAt: due) }

    @_noAllocation @_noLocks
    package mutating func write(_ sound: borrowing FixedBuffer<Float>) { give(sound) }

    package mutating func finish() { card?.drain() }

    /// Writes `sound` to the card, if there is one.
    ///
    /// Exempt from the allocation check: nothing is freed here, but the compiler treats the end of the span's lifetime
    /// as a deallocation.
    @_semantics("no_performance_analysis")
    private mutating func give(_ sound: borrowing FixedBuffer<Float>) { card?.write(sound.span) }
}
