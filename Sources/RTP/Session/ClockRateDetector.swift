internal import TenfourAudioCore
internal import TenfourPackets

/// Detects an Opus source whose timestamps count at another rate than 48 000 Hz, although RFC 7587 section 4.1 allows no
/// other.
///
/// An Opus packet states its duration. If the timestamps of packets in sequence advance steadily by less, the audio of
/// one packet would overlap that of the next, so the clock is wrong. If they advance by more, there may be silence
/// between the packets (DTX), unless the packets arrive at intervals of their durations.
struct ClockRateDetector: Sendable {
    /// The ticks and the frames of the packets that advance in the same proportion, and the time before the first; nil if
    /// the last packet had the right clock.
    private var run: (ticks: Int, frames: Int, count: Int, since: Instant)?
    /// The ticks of the timestamp and the frames at 48 000 Hz that correspond to them; nil if the clock is right.
    private(set) var proportion: (ticks: Int, frames: Int)?
    private var hasBeenReported = false

    /// The number of packets in a row that prove a wrong clock: 200 ms of packets of 20 ms.
    private static let minimumCount = 10
    /// The rates that senders use by mistake.
    private static let usualRates = [8_000, 12_000, 16_000, 24_000, 32_000, 96_000]

    /// Inserts a packet that arrived at `now`. The packet before it in sequence arrived at `before` and lasts `frames`;
    /// its timestamp is `ticks` lower.
    mutating func insert(ticks: Int, frames: FrameCount, tolerance: FrameCount, since before: Instant, at now: Instant)
    {
        guard abs(ticks - frames.rawValue) > tolerance.rawValue, ticks > 0, frames > .zero else {
            run = nil
            if ticks > 0 { proportion = nil }
            return
        }
        guard var run,
            abs(ticks * run.frames - run.ticks * frames.rawValue) <= tolerance.rawValue * run.frames
        else {
            run = (ticks, frames.rawValue, 1, before)
            return
        }
        // Keeps the sums small; the proportion of the older packets is the same.
        if run.count < 1_000 {
            (run.ticks, run.frames, run.count) = (run.ticks + ticks, run.frames + frames.rawValue, run.count + 1)
        }
        self.run = run
        guard proportion == nil, run.count >= Self.minimumCount else { return }
        let elapsed = FrameCount(now - run.since).rawValue
        let isPaced = elapsed * 2 > run.frames && elapsed * 2 < run.ticks + run.frames
        let isFast = run.ticks * 2 > run.frames * 3 && isPaced
        if run.ticks < run.frames || isFast { proportion = (run.ticks, run.frames) }
    }

    /// Converts a distance of two timestamps to frames at 48 000 Hz.
    func frames(_ ticks: FrameCount) -> FrameCount {
        guard let proportion else { return ticks }
        return FrameCount(ticks.rawValue * proportion.frames / proportion.ticks)
    }

    /// Forgets the packets so far, because another sender continues the source.
    mutating func restart() { (run, proportion) = (nil, nil) }

    /// Returns the rate of a wrong clock once after it was detected.
    mutating func newRate() -> SampleRate? {
        guard let proportion, !hasBeenReported else { return nil }
        hasBeenReported = true
        let hertz = SampleRate.opus.hertz * proportion.ticks / proportion.frames
        let usual = Self.usualRates.first { abs($0 - hertz) * 30 < $0 }
        return SampleRate(hertz: usual ?? hertz)
    }
}
