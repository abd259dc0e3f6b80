public import TenfourSession

/// Who is in a relay's channels, as its events tell: for one that has few members and sends to each by itself.
public struct RelayMembers: Sendable {
    private var members: [Member] = []

    private struct Member: Sendable {
        let number: Int
        let channel: Int
        var endpoint: Endpoint
    }

    public init() {}

    public mutating func take(_ event: RelayEvent) {
        switch event {
        case .joined(let number, let channel, let endpoint):
            members.append(Member(number: number, channel: channel, endpoint: endpoint))
        case .left(let number, _): members.removeAll { $0.number == number }
        case .moved(let number, _, let endpoint):
            for index in members.indices where members[index].number == number { members[index].endpoint = endpoint }
        case .talking, .quiet: break
        }
    }

    /// Where something goes that is forwarded.
    public func endpoints(in channel: Int, but talker: Int) -> some Sequence<Endpoint> {
        members.lazy.filter { $0.channel == channel && $0.number != talker }.map(\.endpoint)
    }
}
