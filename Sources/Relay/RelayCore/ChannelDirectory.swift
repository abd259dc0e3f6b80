internal import TenfourChannelKeys

/// Finds the channel of a join key, and knows the former keys of channels.
struct ChannelDirectory: Sendable {
    private var current: [UInt128: Entry] = [:]
    private var former: [UInt128: JoinKey] = [:]
    /// Of those, in the order in which they became so; each once.
    private var formerIDs: [UInt128] = []

    struct Entry: Sendable {
        var key: JoinKey
        /// Nil where it leads nowhere any more.
        var channel: ChannelIndex?
    }

    /// Who had an older one learns no more than a stranger.
    static let maximumFormerCount = 1_024

    subscript(_ channelID: UInt128) -> Entry? {
        current[channelID] ?? former[channelID].map { Entry(key: $0, channel: nil) }
    }

    /// For all of `channels`, by their places. Of two with one key, the first has it.
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

    /// The channel has others now: who still has these shall know.
    mutating func retire(_ channel: RelayConfiguration.Channel) {
        for key in [channel.talkJoin, channel.listenJoin] {
            if former.updateValue(key, forKey: key.channelID) != nil { formerIDs.removeAll { $0 == key.channelID } }
            formerIDs.append(key.channelID)
            if formerIDs.count > Self.maximumFormerCount { former[formerIDs.removeFirst()] = nil }
        }
    }
}
