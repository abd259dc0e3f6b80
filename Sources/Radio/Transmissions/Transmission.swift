/// A transmission that was recorded.
public struct Transmission: Hashable, Sendable {
    /// The arrival of the first packet, in seconds since 1970.
    public var start: Int
    /// The channel, or the name of the other end of a call.
    public var channel: String
    public var talker: String
    /// The duration of the audio, with its gaps.
    public var duration: Duration?
    /// The share of packets that never arrived, 0…1. Nil while the recording goes on, and if it was cut off.
    public var lossShare: Double?
    /// The score of the E-model for what was received, 1…4.5. Nil as `lossShare` is.
    public var score: Double?

    public init(
        start: Int, channel: String, talker: String, duration: Duration? = nil, lossShare: Double? = nil,
        score: Double? = nil
    ) {
        self.start = start
        self.channel = channel
        self.talker = talker
        self.duration = duration
        self.lossShare = lossShare
        self.score = score
    }
}
