public import TenfourSession

/// A change of the destinations of forwarded datagrams, or of the set of active talkers.
public enum RelayEvent: Hashable, Sendable {
    /// The member joined. From now on, datagrams forwarded in `channel` are sent to it.
    case joined(member: MemberID, channel: ChannelIndex, Endpoint)
    /// The member left. Nothing is sent to the member any more. The member's number may be reused soon.
    case left(member: MemberID, channel: ChannelIndex)
    case moved(member: MemberID, channel: ChannelIndex, Endpoint)
    /// The channel has ended, after its last member has left. Its index may be reused soon.
    case ended(channel: ChannelIndex)
    /// The member has started to talk. The caller may open a socket that is connected to the member's address and
    /// receives only this member's packets.
    case talking(member: MemberID, Endpoint)
    /// The member has stopped talking, or its address has changed.
    case quiet(member: MemberID)
}
