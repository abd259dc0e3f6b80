internal import TenfourAudioCore
internal import TenfourRelayCore
internal import TenfourUV

/// Composes notices of dropped packets, with counts by reason, at most once in ten seconds.
struct DropNotices {
    private var told: [RelayNotice.Reason: Int] = [:]
    private var last: Instant?

    private static let interval = Duration.seconds(10)

    /// Returns a notice of the packets dropped since the last notice; nil if no packets were dropped or the last notice
    /// is less than ten seconds old.
    mutating func news(in status: RelayServerStatus, at now: Instant) -> RelayNotice? {
        if let last, now - last < Self.interval { return nil }
        let counts = Self.counts(of: status)
        // Computes the packets dropped since the last notice. If a count is lower than at the last notice, the channel
        // was removed and added again, and the count has started from zero. All packets that it counts are then new.
        let drops = counts.compactMap { reason, count in
            let before = told[reason] ?? 0
            let fresh = count < before ? count : count - before
            return fresh > 0 ? RelayNotice.Drop(reason: reason, count: fresh) : nil
        }
        told = counts
        if drops.isEmpty { return nil }
        last = now
        return .dropped(drops.sorted { ($1.count, "\($0.reason)") < ($0.count, "\($1.reason)") })
    }

    private static func counts(of status: RelayServerStatus) -> [RelayNotice.Reason: Int] {
        var counts: [RelayNotice.Reason: Int] = [:]
        for reason in RelayDiscard.allCases { counts[.relay(reason)] = status.relay.discards[reason] }
        for (channel, fanOut) in zip(status.relay.channels, status.fanOuts) {
            counts[.congestion(channel: channel.name)] = fanOut.dropped
        }
        for channel in status.plain {
            // Reports are sent by every usual sender, and are not forwarded: nothing is wrong.
            for (reason, count) in channel.discards where reason != .control {
                counts[.plain(reason, channel: channel.name)] = count
            }
            counts[.congestion(channel: channel.name)] = channel.fanOut.dropped
        }
        counts[.tooLong] = status.socket.truncated
        counts[.queue] = status.socket.dropped
        for (code, count) in status.socket.failures { counts[.network(code)] = count }
        return counts
    }
}
