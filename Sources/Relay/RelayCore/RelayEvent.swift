public import TenfourSession

/// A change in what is sent to whom.
public enum RelayEvent: Hashable, Sendable {
    /// From now on, what is forwarded in `channel` goes to the member.
    case joined(member: MemberID, channel: ChannelIndex, Endpoint)
    /// Nothing goes to the member any more, and its number may soon be another's.
    case left(member: MemberID, channel: ChannelIndex)
    case moved(member: MemberID, channel: ChannelIndex, Endpoint)
    /// The member talks: a socket connected to it pays off.
    case talking(member: MemberID, Endpoint)
    /// The member does not talk any more, or not from there.
    case quiet(member: MemberID)
}
