public import TenfourSession

/// A change of the destinations of forwarded datagrams, or of the set of active talkers.
public enum RelayEvent: Hashable, Sendable {
    /// The member joined: from now on, datagrams forwarded in `channel` are sent to it.
    case joined(member: MemberID, channel: ChannelIndex, Endpoint)
    /// The member left: nothing is sent to it any more. Its number may be reused soon.
    case left(member: MemberID, channel: ChannelIndex)
    case moved(member: MemberID, channel: ChannelIndex, Endpoint)
    /// The member has started to talk: a socket connected to its address, for its packets only, now pays off.
    case talking(member: MemberID, Endpoint)
    /// The member has stopped talking, or its address has changed.
    case quiet(member: MemberID)
}
