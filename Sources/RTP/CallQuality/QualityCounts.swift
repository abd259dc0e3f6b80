public import TenfourJitterBuffer
public import TenfourPackets

/// Counts of one talker since the first packet, by a receiver.
public struct QualityCounts: Hashable, Sendable {
    /// RTP packets that were sent, according to their sequence numbers.
    public var expected: Int
    /// The part of them that has not come yet. Some may be on their way.
    public var lost: Int
    /// How often a lost packet followed one that came: `lost` divided by this is the mean number of losses in a row.
    public var lossRuns: Int
    /// Interarrival jitter (RFC 3550 section 6.4.1).
    public var jitter: Duration
    /// The network's round-trip time; nil if it is not known.
    public var roundTrip: Duration?
    /// Whether packets are played; false if they look encrypted.
    public var isPlayable: Bool
    /// Counts of the talker's audio.
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
