internal import TenfourChannelKeys

/// Finds the channel for a join key by its channel id, and remembers the former join keys of channels.
struct ChannelDirectory: Sendable {
    private var current: [UInt128: Entry] = [:]
    private var former: [UInt128: JoinKey] = [:]
    /// The channel ids of the former join keys, oldest first, without duplicates.
    private var formerIDs: [UInt128] = []

    struct Entry: Sendable {
        var key: JoinKey
        /// The channel that the join key admits to; nil for a former join key.
        var channel: ChannelIndex?
    }

    /// The maximum number of former join keys that are remembered; the oldest is forgotten first. A JOIN with an older
    /// key is answered like a JOIN for an unknown channel.
    static let maximumFormerCount = 1_024

    subscript(_ channelID: UInt128) -> Entry? {
        current[channelID] ?? former[channelID].map { Entry(key: $0, channel: nil) }
    }

    /// Replaces the current join keys by the join keys of all `channels`. If two channels have the same key, it belongs
    /// to the channel with the lower index.
    mutating func open(_ channels: ChannelTable) {
        current.removeAll()
        for index in channels.indices {
            guard let channel = channels[index] else { continue }
            for key in [channel.configuration.talkJoin, channel.configuration.listenJoin]
            where current[key.channelID] == nil {
                current[key.channelID] = Entry(key: key, channel: index)
            }
        }
    }

    /// Remembers the former join keys of a channel that has new join keys, so that a JOIN with a former key is refused
    /// with the reason `rekeyed`.
    mutating func retire(_ channel: RelayConfiguration.Channel) {
        for key in [channel.talkJoin, channel.listenJoin] {
            if former.updateValue(key, forKey: key.channelID) != nil { formerIDs.removeAll { $0 == key.channelID } }
            formerIDs.append(key.channelID)
            if formerIDs.count > Self.maximumFormerCount { former[formerIDs.removeFirst()] = nil }
        }
    }
}
