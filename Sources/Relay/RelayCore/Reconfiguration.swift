public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourManagedChannel
internal import TenfourSession

/// Changes the configuration of a running relay, and stops it.
extension Relay {
    /// Replaces the configuration by `configuration`. The members of a channel stay if its keys are unchanged. If a
    /// member limit is now lower, the newest listeners beyond it must leave. A member that must leave is sent GOODBYE
    /// with the reason: the channel has new keys or another owner, is removed, or is full. `stores` are the files of
    /// channels with an owner, by the channels' names; those of channels that stay are ignored.
    public mutating func reload(
        _ configuration: RelayConfiguration, stores: [String: ManagedChannelStore] = [:], at now: Instant
    ) {
        limits = configuration.limits
        names = configuration.names
        staticKey = configuration.key
        reloadPairs(configuration, at: now)
        let wanted = Dictionary(grouping: configuration.channels.indices) { configuration.channels[$0].name }
        var isKept = [Bool](repeating: false, count: configuration.channels.count)
        for index in channels.indices where channels[index]?.pass == nil {
            guard let channel = channels[index]?.configuration else { continue }
            let named = wanted[channel.name]?.filter { !isKept[$0] } ?? []
            if let same = named.first(where: { configuration.channels[$0].hasKeys(of: channel) }) {
                channels[index]?.change(to: configuration.channels[same], within: limits)
                channels[index]?.joinAskers(at: now)
                sendFloorMessages(of: index, at: now)
                isKept[same] = true
                continue
            }
            let isRekeyed = !named.isEmpty
            if isRekeyed { directory.retire(channel) }
            sendGoodbye(isRekeyed ? .rekeyed : .refused, to: index, at: now)
            channels[index] = nil
            post(.ended(channel: index))
        }
        for added in configuration.channels.indices where !isKept[added] {
            channels.open(RelayedChannel(configuration.channels[added], within: limits, stores: stores), at: now)
        }
        limitTalkers()
        directory.open(channels)
        managed = ManagedChannels(channels)
        shrink(at: now)
    }

    /// Gives all talkers the limits of their channels.
    private mutating func limitTalkers() {
        for index in talkers.indices {
            guard let member = talkers[index]?.member, let limits = channels[sessions[member].channel]?.limits
            else { continue }
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

    mutating func sendGoodbye(_ reason: Refusal.Reason, to channel: ChannelIndex, at now: Instant) {
        while let member = sessions.first(in: channel) {
            // Sends no BYE for the talker's SSRC, because all members of the channel are sent GOODBYE.
            if let talker = sessions[member].talker { silenceTalker(talker) }
            outbox.put(.goodbye(reason), for: member, of: &sessions)
            end(member, at: now)
        }
    }
}
