public import TenfourJitterBuffer
public import TenfourPackets

/// What a receiver has counted of one talker since it first heard them.
public struct QualityCounts: Hashable, Sendable {
    /// RTP packets that were sent, as far as their numbers tell.
    public var expected: Int
    /// Of those, packets that have not come (so far: some may be on their way).
    public var lost: Int
    /// How often a packet was lost whose predecessor was not: `lost` divided by this is how many are lost in a row.
    public var lossRuns: Int
    /// Interarrival jitter (RFC 3550 section 6.4.1).
    public var jitter: Duration
    /// There and back on the network, where it is known.
    public var roundTrip: Duration?
    /// Whether what comes is played at all; false where it looks encrypted.
    public var isPlayable: Bool
    /// What became of the sound.
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
