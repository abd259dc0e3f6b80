package import TenfourAudioCore

/// What demands sound: a card, or the clock where there is none.
package struct PlaybackOutput: ~Copyable, Sendable {
    package enum DeviceEvent {
        /// `period` frames are wanted.
        ///
        /// - `requestedAt`: the even clock by which playout is kept, as of `Demand`.
        /// - `shift`: by how much that clock has just become later, as of `Demand`.
        /// - `playedAt`: when the first of them will sound.
        case demand(requestedAt: Instant, shift: FrameCount, playedAt: Instant)
        case interrupted(Interruption)
    }

    package let format: LPCMFormat
    package let period: FrameCount
    /// How it was opened, in words; nil for the clock.
    package let granted: NegotiatedFormat?
    /// Is told when a card that comes back grants something else than before; nil for the clock.
    package let changes: CardChanges?
    private var card: PlaybackCard?
    private var metronome: PeriodTimer

    /// Opens a card. `queuedPeriods` is the most it is given ahead.
    package init(
        card name: String, channelCount: Int, period: Duration, queuedPeriods: Double
    ) throws(SoundCardError) {
        let wanted = FrameCount(period)
        let card = try PlaybackCard(
            device: name, format: LPCMFormat(channelCount: channelCount), period: wanted,
            target: FrameCount(Int(Double(wanted.rawValue) * queuedPeriods)))
        granted = card.granted
        changes = card.changes
        format = card.granted.format
        self.period = card.granted.period
        metronome = PeriodTimer(rate: card.granted.format.rate)
        self.card = consume card
    }

    /// No card: the clock demands.
    package init(clockWithChannelCount channelCount: Int, period: Duration) {
        self.init(clock: LPCMFormat(channelCount: channelCount), period: FrameCount(period))
    }

    /// The same in the format and at the pace of a card that others feed.
    package init(clock format: LPCMFormat, period: FrameCount) {
        granted = nil
        changes = nil
        self.format = format
        self.period = period
        metronome = PeriodTimer(rate: format.rate)
        card = nil
    }

    /// Queues more where the thread that will wait was not granted `priority`.
    package mutating func fit(_ priority: RealTime) {
        if case .granted = priority { return }
        card?.expectLateness()
    }

    @_noAllocation @_noLocks
    package mutating func wait() -> DeviceEvent {
        switch card?.wait() {
        case .none: beat(metronome.wait(for: period.rawValue).due)
        case .demand(let demand):
            .demand(requestedAt: demand.requestedAt, shift: demand.shift, playedAt: demand.playedAt)
        case .interrupted(let interruption): .interrupted(interruption)
        }
    }

    @_noAllocation @_noLocks
    private func beat(_ due: Instant) -> DeviceEvent { .demand(requestedAt: due, shift: .zero, playedAt: due) }

    @_noAllocation @_noLocks
    package mutating func write(_ sound: borrowing FixedBuffer<Float>) { give(sound) }

    package mutating func finish() { card?.drain() }

    /// Vetted: nothing is freed here, though the compiler takes the end of a Span's life for that.
    @_semantics("no_performance_analysis")
    private mutating func give(_ sound: borrowing FixedBuffer<Float>) { card?.write(sound.span) }
}

/// By the clock that cards are kept by: CLOCK_MONOTONIC.
package func monotonicNow() -> Instant { Instant(nanoseconds: PCMCalls.now()) }
