public import TenfourChannelKeys
public import TenfourSession

/// A transport address of a relay, with the id of the host in the link that has this address.
public struct RelayCandidate: Hashable, Sendable {
    public var id: RelayID
    public var endpoint: Endpoint

    public init(id: RelayID, endpoint: Endpoint) {
        self.id = id
        self.endpoint = endpoint
    }
}
