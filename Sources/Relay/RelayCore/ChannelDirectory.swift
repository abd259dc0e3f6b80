internal import TenfourChannelKeys
internal import TenfourManagedChannel

/// Finds the channel for a join key by its channel id, and remembers the former join keys of channels.
struct ChannelDirectory: Sendable {
    private var current: [UInt128: Entry] = [:]
    private var former: [UInt128: Entry] = [:]
    /// The channel ids of the former join keys, oldest first, without duplicates.
    private var formerIDs: [UInt128] = []

    struct Entry: Sendable {
        var key: JoinKey
        /// The channel that the join key admits to; nil for a former join key.
        var channel: ChannelIndex?
        /// The statement of COOKIE2 about the channel's owner.
        var owner: OwnerHash
    }

    /// The maximum number of former join keys that are remembered; the oldest is forgotten first. A JOIN with an older
    /// key is answered like a JOIN for an unknown channel.
    static let maximumFormerCount = 1_024

    subscript(_ channelID: UInt128) -> Entry? {
        current[channelID] ?? former[channelID]
    }

    /// Replaces the current join keys by the join keys of all configured `channels`. If two channels have the same key,
    /// it belongs to the channel with the lower index.
    mutating func open(_ channels: ChannelTable) {
        current.removeAll()
        for index in channels.indices {
            guard let channel = channels[index], channel.pass == nil else { continue }
            for entry in entries(of: channel.configuration, at: index) where current[entry.key.channelID] == nil {
                current[entry.key.channelID] = entry
            }
        }
    }

    /// Remembers the former join keys of a channel that has new join keys, so that a JOIN with a former key is refused
    /// with the reason `rekeyed`.
    mutating func retire(_ channel: RelayConfiguration.Channel) {
        for entry in entries(of: channel, at: nil) {
            let id = entry.key.channelID
            if former.updateValue(entry, forKey: id) != nil { formerIDs.removeAll { $0 == id } }
            formerIDs.append(id)
            if formerIDs.count > Self.maximumFormerCount { former[formerIDs.removeFirst()] = nil }
        }
    }

    private func entries(of channel: RelayConfiguration.Channel, at index: ChannelIndex?) -> [Entry] {
        let owner = channel.owner.map { OwnerHash($0.ownerHash) } ?? OwnerHash(ownerless: channel.listenJoin)
        return [channel.talkJoin, channel.listenJoin].map { Entry(key: $0, channel: index, owner: owner) }
    }
}
