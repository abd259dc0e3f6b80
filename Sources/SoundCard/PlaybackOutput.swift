package import Sound

/// What demands sound: a card, or the clock where there is none.
package struct PlaybackOutput: ~Copyable, Sendable {
    package enum Turn {
        /// `period` frames are wanted. The moment is when the first of them will sound, less `queue`: the clock by which
        /// playout is kept.
        case demand(Instant)
        case interrupted(Interruption)
    }

    package let format: LPCMFormat
    package let period: FrameCount
    /// How it was opened, in words; nil for the clock.
    package let granted: GrantedSound?
    /// What usually lies before a period that is demanded, in nanoseconds.
    package let queue: Int64

    private var card: PlaybackCard?
    private var metronome: Metronome

    /// Opens a card. `queuedPeriods` is the most it is given ahead.
    package init(
        card name: String, channelCount: Int, period: Duration, queuedPeriods: Double
    ) throws(SoundCardError) {
        let wanted = FrameCount(period)
        let card = try PlaybackCard(
            device: name, format: LPCMFormat(channelCount: channelCount), period: wanted,
            target: FrameCount(Int(Double(wanted.rawValue) * queuedPeriods)))
        granted = card.granted
        format = card.granted.format
        self.period = card.granted.period
        metronome = Metronome(rate: card.granted.format.rate)
        // A demand comes when a period has left the full queue.
        let ahead = card.target - card.granted.period
        queue = Instant.nanoseconds(in: ahead.duration(at: card.granted.format.rate))
        self.card = consume card
    }

    /// No card: the clock demands.
    package init(clockWithChannelCount channelCount: Int, period: Duration) {
        self.init(clock: LPCMFormat(channelCount: channelCount), period: FrameCount(period))
    }

    /// The same in the format and at the pace of a card that others feed.
    package init(clock format: LPCMFormat, period: FrameCount) {
        granted = nil
        self.format = format
        self.period = period
        metronome = Metronome(rate: format.rate)
        queue = 0
        card = nil
    }

    @_noAllocation @_noLocks
    package mutating func wait() -> Turn {
        switch card?.wait() {
        case .none: .demand(metronome.wait(for: period.rawValue).due)
        case .demand(let demand): .demand(Instant(nanoseconds: demand.playedAt.nanoseconds - queue))
        case .interrupted(let interruption): .interrupted(interruption)
        }
    }

    @_noAllocation @_noLocks
    package mutating func write(_ sound: borrowing Preallocated<Float>) { give(sound) }

    package mutating func finish() { card?.drain() }

    /// Vetted: nothing is freed here, though the compiler takes the end of a Span's life for that.
    @_semantics("no_performance_analysis")
    private mutating func give(_ sound: borrowing Preallocated<Float>) { card?.write(sound.span) }
}

/// By the clock that cards are kept by: CLOCK_MONOTONIC.
package func monotonicNow() -> Instant { Instant(nanoseconds: PCMCalls.now()) }
