public import TenfourSession

/// The members of a relay's channels and their addresses, derived from the relay's events. It serves a relay that sends
/// to each member individually.
public struct RelayMembers: Sendable {
    private var members: [Member] = []

    private struct Member: Sendable {
        let id: MemberID
        let channel: ChannelIndex
        var endpoint: Endpoint
    }

    public init() {}

    public mutating func apply(_ event: RelayEvent) {
        switch event {
        case .joined(let member, let channel, let endpoint):
            members.append(Member(id: member, channel: channel, endpoint: endpoint))
        case .left(let member, _): members.removeAll { $0.id == member }
        case .moved(let member, _, let endpoint):
            for index in members.indices where members[index].id == member { members[index].endpoint = endpoint }
        case .talking, .quiet, .ended: break
        }
    }

    /// The addresses to which a forwarded datagram is sent: all members of the channel except the talker.
    public func endpoints(in channel: ChannelIndex, but talker: MemberID) -> some Sequence<Endpoint> {
        members.lazy.filter { $0.channel == channel && $0.id != talker }.map(\.endpoint)
    }
}
