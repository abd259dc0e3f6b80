internal import Sound
internal import SoundCard

/// What demands sound: a card, or the clock where there is none.
struct PlaybackOutput: ~Copyable, Sendable {
    enum Turn {
        /// `period` frames are wanted. The moment is when the first of them will sound, less the usual queue: the clock by
        /// which playout is kept.
        case demand(Instant)
        case interrupted(Interruption)
    }

    let format: LPCMFormat
    let period: FrameCount
    /// How it was opened, in words; nil for the clock.
    let granted: GrantedSound?

    private var card: PlaybackCard?
    private var metronome: Metronome
    private let queue: Int64

    /// Opens a card. `queuedPeriods` is the most it is given ahead.
    init(
        card name: String, channelCount: Int, period: Duration, queuedPeriods: Double
    ) throws(RadioError) {
        let wanted = FrameCount(period)
        do {
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
        } catch {
            throw RadioError(.unavailable, error.description)
        }
    }

    /// No card: the clock demands.
    init(clockWithChannelCount channelCount: Int, period: Duration) {
        self.init(clock: LPCMFormat(channelCount: channelCount), period: FrameCount(period))
    }

    /// The same in the format and at the pace of a card that others feed.
    init(clock format: LPCMFormat, period: FrameCount) {
        granted = nil
        self.format = format
        self.period = period
        metronome = Metronome(rate: format.rate)
        queue = 0
        card = nil
    }

    @_noAllocation @_noLocks
    mutating func wait() -> Turn {
        switch card?.wait() {
        case .none: .demand(metronome.wait(for: period.rawValue).due)
        case .demand(let demand): .demand(Instant(nanoseconds: demand.playedAt.nanoseconds - queue))
        case .interrupted(let interruption): .interrupted(interruption)
        }
    }

    @_noAllocation @_noLocks
    mutating func write(_ sound: borrowing Preallocated<Float>) { give(sound) }

    mutating func finish() { card?.drain() }

    /// Vetted: nothing is freed here, though the compiler takes the end of a Span's life for that.
    @_semantics("no_performance_analysis")
    private mutating func give(_ sound: borrowing Preallocated<Float>) { card?.write(sound.span) }
}
