internal import TenfourAudioCore
internal import TenfourFloor
internal import TenfourManagedChannel
internal import TenfourPackets

/// The channels of a relay, by index.
struct ChannelTable: Sendable {
    private var channels: [RelayedChannel?]
    /// The indices without a channel, and the times from which they may be reused, the earliest first.
    private var free: [(index: ChannelIndex, time: Instant)] = []

    /// The time from the end of a channel until its index may be reused. Sending threads are told of ends and of
    /// packets in separate queues, so a packet of the former channel must not be waiting when the next one begins.
    private static let reuseDelay = Duration.seconds(1)

    init(_ configuration: RelayConfiguration, stores: [String: ManagedChannelStore]) {
        channels = configuration.channels.map { RelayedChannel($0, within: configuration.limits, stores: stores) }
    }

    /// All indices, including the indices of removed channels.
    var indices: some Sequence<ChannelIndex> { channels.indices.lazy.map { ChannelIndex($0) } }

    /// The channel at an index; nil if the channel was removed.
    subscript(channel: ChannelIndex) -> RelayedChannel? {
        _read { yield channels[channel.number] }
        _modify { yield &channels[channel.number] }
    }

    // The functions below run for each packet. They avoid the subscript, because it is a coroutine, and calling it may
    // allocate memory.

    /// Counts a datagram of `byteCount` bytes that is forwarded in a channel.
    mutating func countForwarded(_ byteCount: Int, in channel: ChannelIndex) {
        channels[channel.number]?.status.forwardedCount += 1
        channels[channel.number]?.status.forwardedByteCount += byteCount
    }

    /// Counts the bits of a datagram to be forwarded in a channel. Returns false if the bits exceed the channel's bit
    /// rate.
    mutating func spend(_ byteCount: Int, in channel: ChannelIndex, at now: Instant) -> Bool {
        channels[channel.number]?.spend(byteCount, at: now) ?? true
    }

    /// Records a packet of a talker that holds a slot among the simultaneous talkers. Returns false if the talker holds
    /// no slot with this SSRC.
    mutating func renewSlot(of index: TalkerIndex, _ ssrc: SSRC, in channel: ChannelIndex, at now: Instant) -> Bool {
        channels[channel.number]?.slots.renew(index, ssrc, at: now) ?? true
    }

    /// Whether somebody has requested the channel's floor, or the channel requires it.
    func usesFloor(in channel: ChannelIndex) -> Bool { channels[channel.number]?.floor?.isInUse ?? false }

    /// Takes note of a packet of a member for the channel's floor. Returns whether it may be forwarded.
    mutating func heardMedia(
        of ssrc: SSRC, from member: MemberID, in channel: ChannelIndex, at now: Instant
    ) -> Bool {
        channels[channel.number]?.heardMedia(of: ssrc, from: member, at: now) ?? true
    }

    /// Takes note of a packet of a member of another relay of the cluster for the channel's floor.
    mutating func heardMedia(
        of ssrc: SSRC, fromRelay relay: BootID, in channel: ChannelIndex, at now: Instant
    ) {
        channels[channel.number]?.floor?.heardMedia(of: ssrc, fromRelay: relay.rawValue, at: now)
    }

    /// Whether the channel's floor has something to be sent.
    func hasFloorOutput(in channel: ChannelIndex) -> Bool { channels[channel.number]?.floor?.hasOutput ?? false }

    /// Adds a channel at a free index, or at a new one if there is none. Returns the index.
    @discardableResult
    mutating func open(_ channel: RelayedChannel, at now: Instant) -> ChannelIndex {
        if let first = free.first, first.time <= now {
            let index = free.removeFirst().index
            self[index] = channel
            return index
        }
        channels.append(channel)
        return ChannelIndex(channels.count - 1)
    }

    /// Lets the index of a channel that has ended be reused after a while.
    mutating func release(_ index: ChannelIndex, at now: Instant) { free.append((index, now + Self.reuseDelay)) }

    /// The channel with the most listeners.
    var fullest: ChannelIndex? {
        indices.max { self[$0]?.status.listenerCount ?? 0 < self[$1]?.status.listenerCount ?? 0 }
    }

    /// The status of the configured channels.
    var status: [RelayStatus.Channel] {
        indices.compactMap { index in
            guard let channel = self[index], channel.pass == nil else { return nil }
            var status = channel.status
            status.number = index.number
            status.floor = channel.floor.flatMap { $0.isInUse ? $0.status : nil }
            return status
        }
    }
}
