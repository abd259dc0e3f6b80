internal import TenfourAudioCore
internal import TenfourPackets

/// Detects a source that sends its audio faster than it lasts, such as a program that sends a file without waiting.
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
    /// The share of the time by which a lag is forgotten: after a pause in which the timestamps stood still it is wrong.
    private static let lagShare = 20
    /// The share of the time by which a lead is forgotten: more than the drift of any clock.
    private static let leadShare = 100

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
        lead = max(lead + max(excess, .zero) - FrameCount(elapsed.rawValue / Self.leadShare), .zero)
        lag = max(.zero - excess - FrameCount(elapsed.rawValue / Self.lagShare), .zero)
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
