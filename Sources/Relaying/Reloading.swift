internal import Engine
internal import Keys
public import Sound

/// A configuration that changes, and an end.
extension Relay {
    /// Those in a channel that stays as it is notice nothing. Others are told why theirs ends: it has other keys now, or is
    /// gone.
    public mutating func reload(_ configuration: RelayConfiguration, at now: Instant) {
        limits = configuration.limits
        names = configuration.names
        var wanted = configuration.channels
        var free: [Int] = []
        for index in channels.indices {
            guard let channel = channels[index]?.configuration else {
                free.append(index)
                continue
            }
            if let same = wanted.firstIndex(of: channel) {
                wanted.remove(at: same)
                continue
            }
            let isRekeyed = wanted.contains { $0.name == channel.name }
            if isRekeyed { doors.retire(channel) }
            sayGoodbye(isRekeyed ? .rekeyed : .refused, at: now) { $0.channel == index }
            channels[index] = nil
        }
        for channel in wanted {
            if free.isEmpty {
                channels.append(RelayedChannel(channel))
            } else {
                channels[free.removeFirst()] = RelayedChannel(channel)
            }
        }
        doors.open(channels)
    }

    /// Says good-bye to all; who wants to join from now on is refused.
    public mutating func stop(at now: Instant) {
        isStopping = true
        sayGoodbye(.stopping, at: now) { _ in true }
    }

    private mutating func sayGoodbye(
        _ reason: Refusal.Reason, at now: Instant, to isMeant: (Session) -> Bool
    ) {
        for member in sessions.indices where sessions[member].state != .free && isMeant(sessions[member]) {
            // A talker's end is no news to those who are told that all ends.
            if sessions[member].talker >= 0 { silenceTalker(Int(sessions[member].talker)) }
            outbox.put(.goodbye(reason), for: member, of: &sessions)
            end(member, at: now)
        }
    }
}
