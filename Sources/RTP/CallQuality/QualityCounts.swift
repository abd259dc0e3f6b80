public import TenfourJitterBuffer
import TenfourPackets

/// A receiver's counts for one talker, since the talker's first packet.
public struct QualityCounts: Hashable, Sendable {
    /// The number of RTP packets that were sent, according to their sequence numbers.
    public var expected: Int
    /// The number of expected packets that have not arrived. Some of them may still arrive.
    public var lost: Int
    /// The number of bursts of loss. `lost` divided by this number is the mean number of packets lost in a row.
    public var lossRuns: Int
    /// Interarrival jitter (RFC 3550 section 6.4.1).
    public var jitter: Duration
    /// The network's round-trip time; nil if it is not known.
    public var roundTrip: Duration?
    /// Whether packets are played; false if they look encrypted.
    public var isPlayable: Bool
    /// The playout statistics of the talker's audio.
    public var playout: PlayoutStatistics

    public init(
        expected: Int = 0, lost: Int = 0, lossRuns: Int = 0, jitter: Duration = .zero, roundTrip: Duration? = nil,
        isPlayable: Bool = true, playout: PlayoutStatistics = .init()
    ) {
        self.expected = expected
        self.lost = lost
        self.lossRuns = lossRuns
        self.jitter = jitter
        self.roundTrip = roundTrip
        self.isPlayable = isPlayable
        self.playout = playout
    }
}
