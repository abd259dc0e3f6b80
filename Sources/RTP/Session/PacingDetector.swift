internal import TenfourAudioCore
internal import TenfourPackets

/// Detects a source that sends its audio faster than real time, such as a program that sends a file without waiting.
///
/// A stall of the network does not count: packets that were held back arrive at once, but not earlier than they would
/// have come without the stall.
struct PacingDetector: Sendable {
    private var newest: (timestamp: RTPTimestamp, arrival: Instant)?
    /// The time by which the newest packet was later than the fastest one.
    private var lag = FrameCount.zero
    /// The time by which packets have come earlier than the first ones.
    private var lead = FrameCount.zero
    private var hasBeenReported = false

    /// The lead that no network causes: 2 s. The first packets of a call may be held back for a second.
    private static let longestLead = FrameCount(96_000)
    /// A lag and a lead are forgotten by this part of the time, 1/100: more than the drift of any clock. It is the same for
    /// both, because the part of a lag that was forgotten counts as lead when the next fast packet comes.
    private static let forgottenShare = 100
    /// The maximum lag: 10 s. A longer one is a pause in which the timestamps stood still.
    private static let longestLag = FrameCount(480_000)

    /// Inserts a packet of audio that lasts `frames`. `timestamp` counts at 48 000 Hz.
    mutating func insert(_ timestamp: RTPTimestamp, _ frames: FrameCount, at now: Instant) {
        guard let before = newest else {
            newest = (timestamp, now)
            return
        }
        let ticks = timestamp.distance(after: before.timestamp)
        guard ticks > .zero else { return }
        newest = (timestamp, now)
        let elapsed = FrameCount(now - before.arrival)
        // A timestamp that is ahead counts only for the audio of the packet, because it may have jumped.
        let gain = ticks > elapsed ? max(min(ticks, frames) - elapsed, .zero) : ticks - elapsed
        let excess = gain - lag
        let forgotten = FrameCount(elapsed.rawValue / Self.forgottenShare)
        lead = max(lead + max(excess, .zero) - forgotten, .zero)
        lag = min(max(.zero - excess - forgotten, .zero), Self.longestLag)
    }

    /// Forgets the packets so far, because another sender continues the source.
    mutating func restart() { (newest, lag, lead) = (nil, .zero, .zero) }

    /// Returns true once, after the source was found to send too fast.
    mutating func isNewlyTooFast() -> Bool {
        guard !hasBeenReported, lead > Self.longestLead else { return false }
        hasBeenReported = true
        return true
    }
}
