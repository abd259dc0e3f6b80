public import RTP

/// Which epoch of each sender is the newest, and so which announcements are worth hearing.
public struct KnownEpochs: Sendable {
    /// What an announcement is to who receives it.
    public enum Judgement: Hashable, Sendable {
        /// Begins an epoch of its sender: a key is to be made for it.
        case new
        /// Tells of an epoch that is known.
        case known
        /// Ours, come back.
        case own
        /// From before the sender's newest epoch.
        case older
        /// Under our own SSRC, by another: who came later takes another SSRC.
        case collision
        /// The clocks are too far apart: an old one said again, or a clock that is wrong.
        case offTime
        /// Nobody of this channel made it.
        case forged
    }

    private var senders: [(ssrc: SSRC, newest: Epoch, age: UInt64)] = []
    private var own: [Epoch] = []
    private var count: UInt64 = 0

    public static let maximumSenderCount = 64
    private static let maximumOwnCount = 16

    public init() {}

    /// Ours from now on.
    public mutating func begin(own epoch: Epoch) {
        if own.count == Self.maximumOwnCount { own.removeFirst() }
        own.append(epoch)
    }

    /// Remembers what it judges to be new. `ssrc` is ours.
    public mutating func judge(
        _ announcement: Announcement, under root: MediaRoot, ownSSRC ssrc: SSRC?, at clock: WallClock
    ) -> Judgement {
        guard announcement.isAuthentic(under: root) else { return .forged }
        let (earlier, later) = (min(announcement.seconds, clock.seconds), max(announcement.seconds, clock.seconds))
        guard later - earlier <= Announcement.maximumClockError else { return .offTime }
        guard !own.contains(announcement.epoch) else { return .own }
        guard announcement.ssrc != ssrc else { return .collision }
        count += 1
        guard let place = senders.firstIndex(where: { $0.ssrc == announcement.ssrc }) else {
            if senders.count == Self.maximumSenderCount,
                let oldest = senders.indices.min(by: { senders[$0].age < senders[$1].age })
            {
                senders.remove(at: oldest)
            }
            senders.append((announcement.ssrc, announcement.epoch, count))
            return .new
        }
        guard announcement.epoch >= senders[place].newest else { return .older }
        let isKnown = announcement.epoch == senders[place].newest
        senders[place] = (announcement.ssrc, announcement.epoch, count)
        return isKnown ? .known : .new
    }
}
