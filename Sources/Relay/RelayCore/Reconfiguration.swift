public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourManagedChannel
internal import TenfourSession

/// Changes the configuration of a running relay, and stops it.
extension Relay {
    /// Replaces the configuration by `configuration`. The members of a channel stay if its keys are unchanged. If a
    /// member limit is now lower, the newest listeners beyond it must leave. A member that must leave is sent GOODBYE
    /// with the reason: the channel has new keys or another owner, is removed, or is full. `stores` are the files of channels
    /// with an owner, by the channels' names; those of channels that stay are ignored.
    public mutating func reload(
        _ configuration: RelayConfiguration, stores: [String: ManagedChannelStore] = [:], at now: Instant
    ) {
        limits = configuration.limits
        names = configuration.names
        staticKey = configuration.key
        let wanted = Dictionary(grouping: configuration.channels.indices) { configuration.channels[$0].name }
        var isKept = [Bool](repeating: false, count: configuration.channels.count)
        // Determines the free indices before channels are removed. An index that becomes free below is reused only by
        // the next reconfiguration, when all users of the index know that its channel has ended.
        let free = channels.free
        for index in channels.indices {
            guard let channel = channels[index]?.configuration else { continue }
            let named = wanted[channel.name]?.filter { !isKept[$0] } ?? []
            if let same = named.first(where: { configuration.channels[$0].hasKeys(of: channel) }) {
                channels[index]?.change(to: configuration.channels[same], within: limits)
                channels[index]?.joinAskers(at: now)
                sendFloorMessages(of: index, at: now)
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
        channels.add(
            added.map { RelayedChannel(configuration.channels[$0], within: limits, stores: stores) }, at: free)
        directory.open(channels)
        managed = ManagedChannels(channels)
        shrink(at: now)
    }

    private mutating func limitTalkers(of channel: ChannelIndex) {
        guard let limits = channels[channel]?.limits else { return }
        for index in talkers.indices where talkers[index].map({ sessions[$0.member].channel }) == channel {
            talkers[index]?.limits = limits
        }
    }

    /// Sends GOODBYE to all members and refuses every JOIN from now on. An endpoint that runs its own relay stops the
    /// relay with the reason `left`.
    public mutating func stop(for reason: Refusal.Reason = .stopping, at now: Instant) {
        ending = reason
        for channel in channels.indices { sendGoodbye(reason, to: channel, at: now) }
        managed.saveAll()
    }

    private mutating func sendGoodbye(_ reason: Refusal.Reason, to channel: ChannelIndex, at now: Instant) {
        while let member = sessions.first(in: channel) {
            // Sends no BYE for the talker's SSRC, because all members of the channel are sent GOODBYE.
            if let talker = sessions[member].talker { silenceTalker(talker) }
            outbox.put(.goodbye(reason), for: member, of: &sessions)
            end(member, at: now)
        }
    }
}
