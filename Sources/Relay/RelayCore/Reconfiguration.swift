public import TenfourAudioCore
public import TenfourChannelKeys
internal import TenfourSession

/// A configuration that changes, and an end.
extension Relay {
    /// Those in a channel that keeps its keys stay, but for the newest listeners where it has room for fewer now. Others are told
    /// why theirs ends: it has other keys now, or is gone.
    public mutating func reload(_ configuration: RelayConfiguration, at now: Instant) {
        limits = configuration.limits
        names = configuration.names
        let wanted = Dictionary(grouping: configuration.channels.indices) { configuration.channels[$0].name }
        var isKept = [Bool](repeating: false, count: configuration.channels.count)
        // The index of a channel that ends now is used again by the next reconfiguration, when all have noticed.
        let free = channels.free
        for index in channels.indices {
            guard let channel = channels[index]?.configuration else { continue }
            let named = wanted[channel.name]?.filter { !isKept[$0] } ?? []
            if let same = named.first(where: { configuration.channels[$0].hasKeys(of: channel) }) {
                channels[index]?.change(to: configuration.channels[same], within: limits)
                limitTalkers(of: index)
                isKept[same] = true
                continue
            }
            let isRekeyed = !named.isEmpty
            if isRekeyed { directory.retire(channel) }
            sendGoodbye(isRekeyed ? .rekeyed : .refused, to: index, at: now)
            channels[index] = nil
        }
        let added = configuration.channels.indices.filter { !isKept[$0] }
        channels.add(added.map { RelayedChannel(configuration.channels[$0], within: limits) }, at: free)
        directory.open(channels)
        shrink(at: now)
    }

    private mutating func limitTalkers(of channel: ChannelIndex) {
        guard let limits = channels[channel]?.limits else { return }
        for index in talkers.indices where talkers[index].map({ sessions[$0.member].channel }) == channel {
            talkers[index]?.limits = limits
        }
    }

    /// Says good-bye to all; who wants to join from now on is refused. A station that has answered for itself goes `for` having
    /// left.
    public mutating func stop(for reason: Refusal.Reason = .stopping, at now: Instant) {
        ending = reason
        for channel in channels.indices { sendGoodbye(reason, to: channel, at: now) }
    }

    private mutating func sendGoodbye(_ reason: Refusal.Reason, to channel: ChannelIndex, at now: Instant) {
        while let member = sessions.first(in: channel) {
            // A talker's end is no news to those who are told that all ends.
            if let talker = sessions[member].talker { silenceTalker(talker) }
            outbox.put(.goodbye(reason), for: member, of: &sessions)
            end(member, at: now)
        }
    }
}
