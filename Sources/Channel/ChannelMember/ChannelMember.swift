public import TenfourChannelKeys

/// Another member of the channel, with the information that it has sent about itself.
public struct ChannelMember: Hashable, Sendable {
    /// A random number that identifies the member. The member generates it when it starts and keeps it until it stops.
    public let id: UInt64
    public var info: MemberInfo
    /// Whether the relay lists the member. It lists up to 32 talkers, and only counts the other members.
    public var isListed: Bool

    public init(id: UInt64, info: MemberInfo, isListed: Bool) {
        self.id = id
        self.info = info
        self.isListed = isListed
    }

    /// The member's name; nil if it hides its name.
    public var name: String? { info.name.isEmpty ? nil : info.name }
}

/// The other members of the channel, as the relay reports them.
public struct ChannelMembers: Hashable, Sendable {
    /// The talkers that have sent an info, in the order in which they joined.
    public var talkers: [ChannelMember] = []
    /// The number of listed talkers that have sent no member info, because their implementation is older.
    public var unidentifiedCount = 0
    /// The number of other members that the relay counts without listing them: listeners, and talkers above the limit
    /// of 32.
    public var listenerCount = 0

    public init() {}

    /// The number of all members of the channel except ourselves.
    public var count: Int { talkers.count + unidentifiedCount + listenerCount }
}

/// Up to 50 of the listeners that have sent an info.
public struct ListenerPage: Hashable, Sendable {
    public var members: [ChannelMember]
    /// The index of the first member of this page among all listeners that have sent an info.
    public var position: Int
    /// The number of all listeners that have sent an info, including ourselves.
    public var total: Int

    public init(members: [ChannelMember], position: Int, total: Int) {
        self.members = members
        self.position = position
        self.total = total
    }

    /// The position of the next page; nil if this is the last page.
    public var next: Int? { position + Roster.pageLength < total ? position + Roster.pageLength : nil }
}
