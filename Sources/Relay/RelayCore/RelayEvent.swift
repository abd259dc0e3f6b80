public import TenfourSession

/// What changed in who gets what. Members are small numbers that are used again, channels stand for one of the configuration.
public enum RelayEvent: Hashable, Sendable {
    /// From now on what is forwarded in `channel` goes to it.
    case joined(member: MemberID, channel: ChannelIndex, Endpoint)
    /// Nothing goes to it any more, and its number may soon be another's.
    case left(member: MemberID, channel: ChannelIndex)
    case moved(member: MemberID, channel: ChannelIndex, Endpoint)
    /// It talks: a socket of its own, connected to it, is worth while.
    case talking(member: MemberID, Endpoint)
    /// It does not talk any more, or not from there.
    case quiet(member: MemberID)
}
