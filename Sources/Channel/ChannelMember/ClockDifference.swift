/// The difference between another machine's clock and the one that tells us the time of day in the channel.
public struct ClockDifference: Hashable, Sendable {
    /// The other clock less ours; below zero if the other clock is behind. It is at most half a round trip off.
    public var ahead: Duration
    /// Whether our own clock tells the time of day in the channel; false if the relay's clock does.
    public var isOwnUsed: Bool

    public init(ahead: Duration, isOwnUsed: Bool) {
        self.ahead = ahead
        self.isOwnUsed = isOwnUsed
    }

    /// The difference from which the user learns of it.
    public static let reported = Duration.seconds(5)

    /// The difference without its direction.
    public var magnitude: Duration { ahead < .zero ? .zero - ahead : ahead }
}
