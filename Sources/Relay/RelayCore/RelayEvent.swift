public import TenfourSession

/// A change of the destinations of forwarded datagrams, or of the set of active talkers.
public enum RelayEvent: Hashable, Sendable {
    /// The member joined: from now on, datagrams forwarded in `channel` are sent to it.
    case joined(member: MemberID, channel: ChannelIndex, Endpoint)
    /// The member left: nothing is sent to the member any more. The member's number may be reused soon.
    case left(member: MemberID, channel: ChannelIndex)
    case moved(member: MemberID, channel: ChannelIndex, Endpoint)
    /// The member has started to talk: the caller may open a socket that is connected to the member's address, for its packets
    /// only.
    case talking(member: MemberID, Endpoint)
    /// The member has stopped talking, or its address has changed.
    case quiet(member: MemberID)
}
