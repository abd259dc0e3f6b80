public import TenfourAudioCore

/// What playout must leave room for, so that the packets which a source sends again come before their sound is due.
public struct RecoveryDelay: Hashable, Sendable {
    /// How much later than a packet the last of its copies comes; zero where the source sends none.
    public var lookAhead = FrameCount(0)
    /// How far behind the fastest packet playout should lie, so that what is asked for comes in time; zero where nothing is.
    public var retransmissionTime = FrameCount(0)
    /// How deep repair may make playout at all.
    public var limit = FrameCount(0)

    init() {}

    /// What is worth its delay to a listener: the least depth that sounds nearly as good as all the depth there may be.
    /// Nothing where a question cannot be answered in it.
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
