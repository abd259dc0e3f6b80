internal import TenfourAudioCore
internal import TenfourOggOpus

/// Watches how late a talker's packets arrive, compared with the first packet of the talkspurt, and tells when they are
/// to be shifted: the talker's clock drifts, its path has changed, or its first packet was held up.
struct LiveDelay: Sendable {
    private var blockStart: Instant?
    private var count = 0
    /// The lateness of the earliest and of the latest packet of the block.
    private var bounds = (least: FrameCount(.max), most: FrameCount(.min))
    /// The number of packets in a row that came after their time, and the smallest lateness of them.
    private var tooLate = (count: 0, least: FrameCount(.max))

    /// The duration of a block.
    private static let interval = Duration.seconds(1)
    /// The lateness of all packets of a block that is tolerated: 40 ms.
    private static let tolerance = FrameCount(1_920)
    private static let minimumCount = 5
    /// The number of packets in a row that come after their time before a block ends early.
    private static let maximumTooLateCount = 8

    /// Records a packet that arrived `lateness` later than the first packet of the talkspurt would have. Returns the
    /// duration by which all packets that have not been heard are to be shifted: positive for a longer delay.
    mutating func shift(lateness: FrameCount, isTooLate: Bool, at now: Instant) -> FrameCount {
        let start = blockStart ?? now
        blockStart = start
        count += 1
        bounds = (min(bounds.least, lateness), max(bounds.most, lateness))
        tooLate = isTooLate ? (tooLate.count + 1, min(tooLate.least, lateness)) : (0, FrameCount(.max))
        if tooLate.count == Self.maximumTooLateCount { return end(shifting: tooLate.least) }
        guard now - start >= Self.interval else { return .zero }
        guard count >= Self.minimumCount else { return end(shifting: .zero) }
        if bounds.least > Self.tolerance { return end(shifting: bounds.least) }
        if bounds.most < .zero - Self.tolerance { return end(shifting: bounds.most) }
        return end(shifting: .zero)
    }

    private mutating func end(shifting shift: FrameCount) -> FrameCount {
        self = LiveDelay()
        let step = FillingPacket.step.rawValue
        return FrameCount(shift.rawValue / step * step)
    }
}
