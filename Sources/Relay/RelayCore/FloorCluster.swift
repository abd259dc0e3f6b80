public import TenfourAudioCore
public import TenfourFloor

/// The floor of a channel that other relays of a cluster have too.
extension Relay {
    /// Takes note of the relays of the cluster that are present and have members of a channel. `tag` is the channel's
    /// tag in the cluster. Call this for each channel after `joinCluster` and after each reload.
    public mutating func clusterChanged(
        of channel: ChannelIndex, tag: UInt64, others: Set<BootID>, at now: Instant
    ) {
        guard let boot = clusterRequests.boot else { return }
        channels[channel]?.floorCluster = FloorCluster(
            boot: boot.rawValue, tag: tag, others: Set(others.map(\.rawValue)))
        if channels[channel]?.floor?.isInCluster == false { channels[channel]?.closeFloor() }
        channels[channel]?.updateFloor(at: now)
        sendFloorMessages(of: channel, at: now)
    }

    /// Takes a message of another relay about the floor of a channel.
    public mutating func receive(
        _ message: FloorRelayMessage, of channel: ChannelIndex, from relay: BootID, at now: Instant
    ) {
        guard memberCount(of: channel) > 0, channels[channel]?.floorCluster != nil,
            channels[channel]?.hasFloorControl ?? false
        else { return }
        channels[channel]?.openFloor(at: now)
        channels[channel]?.floor?.receive(message, from: relay.rawValue, at: now)
        sendFloorMessages(of: channel, at: now)
    }

    /// Follows a member that has joined or left. Without members a relay of a cluster forgets the floor: it hears no
    /// more of it.
    mutating func floorMembersChanged(in channel: ChannelIndex, at now: Instant) {
        guard channels[channel]?.floor?.isInCluster ?? false else { return }
        if memberCount(of: channel) == 0 { channels[channel]?.closeFloor() }
        channels[channel]?.updateFloor(at: now)
        sendFloorMessages(of: channel, at: now)
    }
}

/// A channel in the relay's cluster.
struct FloorCluster: Sendable {
    /// The boot id of this relay.
    var boot: UInt128
    /// The tag of the channel.
    var tag: UInt64
    /// The boot ids of the other relays that are present and have members of the channel.
    var others: Set<UInt128>
}
