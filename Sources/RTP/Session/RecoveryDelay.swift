public import TenfourAudioCore

/// What playout must leave room for, so that the packets which a source sends again come before their sound is due.
public struct RecoveryDelay: Hashable, Sendable {
    /// How much later than a packet the last of its copies comes; zero where the source sends none.
    public var lookAhead = FrameCount(0)
    /// How far behind the fastest packet playout should lie, so that what is asked for comes in time; zero where nothing is.
    public var resendTime = FrameCount(0)
    /// How deep repair may make playout at all.
    public var limit = FrameCount(0)

    init() {}

    /// What is worth its delay to a listener: the least depth that sounds nearly as good as all the depth there may be.
    /// Nothing where a question cannot be answered in it.
    static func worthwhileDepth(_ outlook: PredictedScore) -> Duration {
        guard outlook.hasRoomForQuestion, let least = outlook.leastDepthForQuestion else { return .zero }
        let scheme = LossProtection(resends: true, bitRate: 32_000)
        let best = outlook.score(of: scheme)
        var tried = outlook
        tried.depth = least
        while tried.depth < outlook.depth, tried.score(of: scheme) < best - nearly { tried.depth += step }
        return min(tried.depth, outlook.depth)
    }

    private static let nearly = 0.01
    private static let step = Duration.milliseconds(5)
}
