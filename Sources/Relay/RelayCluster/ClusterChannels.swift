internal import TenfourAudioCore
internal import TenfourRelayCore

/// One of the relay's channels in the cluster.
struct ClusterChannel: Sendable {
    let index: ChannelIndex
    let tag: UInt64
    let subject: String
    /// Whether this relay has members of the channel, and has subscribed to the subject.
    var isOpen = false
    /// The number of present relays that have members of the channel.
    var interestCount = 0
    /// The time at which the channel's state must be sent; nil if nobody waits for it.
    var stateDue: Instant?
    /// Whether the state must be sent before the channel's next datagram.
    var isUrgent = false
}

/// The relay's channels by index and by tag.
struct ClusterChannels: Sendable {
    private var channels: [ClusterChannel?] = []
    private var tags: [UInt64: ChannelIndex] = [:]
    /// The earliest time at which a state must be sent; nil if none must.
    private(set) var deadline: Instant?

    subscript(index: ChannelIndex) -> ClusterChannel? {
        channels.indices.contains(index.number) ? channels[index.number] : nil
    }

    subscript(tag tag: UInt64) -> ClusterChannel? { tags[tag].flatMap { self[$0] } }

    var open: [ClusterChannel] { channels.compactMap { $0 }.filter(\.isOpen) }

    var all: [ClusterChannel] { channels.compactMap { $0 } }

    /// Whether datagrams of a channel must be sent to other relays.
    func isWanted(_ index: ChannelIndex) -> Bool {
        channels.indices.contains(index.number) && channels[index.number]?.interestCount ?? 0 > 0
    }

    mutating func set(_ new: [ClusterChannel]) {
        channels = []
        tags = [:]
        for channel in new {
            while channels.count <= channel.index.number { channels.append(nil) }
            channels[channel.index.number] = channel
            tags[channel.tag] = channel.index
        }
        updateDeadline()
    }

    mutating func setOpen(_ index: ChannelIndex, _ isOpen: Bool) { channels[index.number]?.isOpen = isOpen }

    mutating func changeInterest(in tag: UInt64, by step: Int) {
        guard let index = tags[tag] else { return }
        channels[index.number]?.interestCount += step
    }

    /// Makes the state of a channel due at `moment`, if other relays have members.
    mutating func expectState(of index: ChannelIndex, at moment: Instant, isUrgent: Bool = false) {
        guard isWanted(index), let channel = channels[index.number], channel.isOpen else { return }
        let due = channel.stateDue.map { min($0, moment) } ?? moment
        channels[index.number]?.stateDue = due
        if isUrgent { channels[index.number]?.isUrgent = true }
        deadline = deadline.map { min($0, due) } ?? due
    }

    /// Follows the sending of a channel's state; `updateDeadline` must follow.
    mutating func stateSent(of index: ChannelIndex, next: Instant?) {
        channels[index.number]?.isUrgent = false
        channels[index.number]?.stateDue = next
    }

    /// The channels whose state must be sent.
    func due(at now: Instant) -> [ChannelIndex] {
        channels.compactMap { $0 }.filter { $0.stateDue.map { $0 <= now } ?? false }.map(\.index)
    }

    mutating func updateDeadline() { deadline = channels.lazy.compactMap { $0?.stateDue }.min() }
}
