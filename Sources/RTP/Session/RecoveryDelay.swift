public import TenfourAudioCore

/// The playout delay that a source needs so that retransmissions and copies of its packets arrive before they are due.
public struct RecoveryDelay: Hashable, Sendable {
    /// The time from a packet to the last of its copies; zero if the source sends no copies.
    public var lookAhead = FrameCount(0)
    /// The playout delay at which requested packets arrive in time, measured from the arrival of the fastest packet;
    /// zero if no packets are requested.
    public var retransmissionTime = FrameCount(0)
    /// The maximum playout delay that recovery may request, measured from the arrival of the fastest packet.
    public var limit = FrameCount(0)

    init() {}

    /// Returns the smallest playout delay whose predicted score is nearly that of the maximum delay; zero if not even
    /// the maximum delay allows a retransmission.
    static func worthwhileDepth(_ prediction: PredictedScore) -> Duration {
        guard prediction.allowsRetransmission, let least = prediction.minimumRetransmissionDelay else { return .zero }
        let scheme = LossProtection(retransmits: true, bitRate: 32_000)
        let best = prediction.score(of: scheme)
        var tried = prediction
        tried.depth = least
        while tried.depth < prediction.depth, tried.score(of: scheme) < best - nearly { tried.depth += step }
        return min(tried.depth, prediction.depth)
    }

    private static let nearly = 0.01
    private static let step = Duration.milliseconds(5)
}
