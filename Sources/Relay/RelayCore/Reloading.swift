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
        var free: [Int] = []
        for index in channels.indices {
            guard let channel = channels[index]?.configuration else {
                free.append(index)
                continue
            }
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
        free.reverse()
        for (index, channel) in configuration.channels.enumerated() where !isKept[index] {
            if let place = free.popLast() {
                channels[place] = RelayedChannel(channel, within: limits)
            } else {
                channels.append(RelayedChannel(channel, within: limits))
            }
        }
        directory.open(channels)
        shrink(at: now)
    }

    private mutating func limitTalkers(of channel: Int) {
        guard let limits = channels[channel]?.limits else { return }
        for place in talkers.indices where talkers[place].map({ Int(sessions[$0.member].channel) }) == channel {
            talkers[place]?.limits = limits
        }
    }

    /// Says good-bye to all; who wants to join from now on is refused. A station that has answered for itself goes `for` having
    /// left.
    public mutating func stop(for reason: Refusal.Reason = .stopping, at now: Instant) {
        ending = reason
        for channel in channels.indices { sendGoodbye(reason, to: channel, at: now) }
    }

    private mutating func sendGoodbye(_ reason: Refusal.Reason, to channel: Int, at now: Instant) {
        while let member = sessions.first(in: channel) {
            // A talker's end is no news to those who are told that all ends.
            if sessions[member].talker >= 0 { silenceTalker(Int(sessions[member].talker)) }
            outbox.put(.goodbye(reason), for: member, of: &sessions)
            end(member, at: now)
        }
    }
}
