public import TenfourChannelKeys

/// Another member of the channel, as it tells about itself.
public struct ChannelMember: Hashable, Sendable {
    /// A number that it has drawn for as long as it runs.
    public let id: UInt64
    public var info: MemberInfo
    /// Whether it is one of the talkers, who are listed; the others are counted.
    public var isListed: Bool

    public init(id: UInt64, info: MemberInfo, isListed: Bool) {
        self.id = id
        self.info = info
        self.isListed = isListed
    }

    /// Nil where it keeps its name back.
    public var name: String? { info.name.isEmpty ? nil : info.name }
}

/// The other members of the channel, as the relay tells them.
public struct ChannelMembers: Hashable, Sendable {
    /// Talkers, those first who have been there longest.
    public var talkers: [ChannelMember] = []
    /// Talkers that tell nothing about themselves: stations of an earlier version.
    public var unlistedCount = 0
    /// All others.
    public var listenerCount = 0

    public init() {}

    /// All together.
    public var count: Int { talkers.count + unlistedCount + listenerCount }
}

/// Up to fifty of the listeners that tell something about themselves.
public struct ListenerPage: Hashable, Sendable {
    public var members: [ChannelMember]
    /// Of the first of them, among all that tell something.
    public var position: Int
    /// How many these are, ourselves included.
    public var total: Int

    public init(members: [ChannelMember], position: Int, total: Int) {
        self.members = members
        self.position = position
        self.total = total
    }

    /// Where the next page begins; nil where this is the last.
    public var next: Int? { position + Roster.pageLength < total ? position + Roster.pageLength : nil }
}
