public import TenfourFloor
public import TenfourPackets

/// Identifies a relay of a cluster from its start to its end: 16 random bytes (Protocol/09-cluster.md).
public struct BootID: Hashable, Comparable, Sendable {
    public let rawValue: UInt128

    public init(rawValue: UInt128) { self.rawValue = rawValue }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A message that a relay must send to the other relays of its cluster.
public enum ClusterRequest: Equatable, Sendable {
    /// The members or claims of a channel have changed. If `isUrgent`, the new state must be sent before the next
    /// datagram of the channel.
    case state(ChannelIndex, isUrgent: Bool)
    /// Packets of a talker of another relay are missing.
    case nack(BootID, ChannelIndex, SSRC, [SequenceNumber])
    /// The members' reports about a talker of another relay are due.
    case report(BootID, ChannelIndex, SSRC, ListenersSummary)
    /// A message about a channel's floor, to one relay; if that is nil, to all that have members of the channel.
    case floor(BootID?, ChannelIndex, FloorRelayMessage)
}

/// The reports of a relay's members about a talker of another relay.
public struct ListenersSummary: Hashable, Sendable {
    /// The number of access lines of the members that have reported.
    public var lineCount: UInt32
    /// The fraction of packets that stayed lost, in 1/256.
    public var fractionLost: UInt8
    /// The payload type under which the members accept redundancy (RFC 2198); 255 if there is none.
    public var redPayloadType: UInt8
    /// Whether all members that have reported conceal losses by deep PLC.
    public var hasDeepConcealment: Bool
    /// The members' longest playout delay in milliseconds; zero if no report states one.
    public var depth: UInt16

    public init(
        lineCount: UInt32, fractionLost: UInt8, redPayloadType: UInt8, hasDeepConcealment: Bool, depth: UInt16
    ) {
        self.lineCount = lineCount
        self.fractionLost = fractionLost
        self.redPayloadType = redPayloadType
        self.hasDeepConcealment = hasDeepConcealment
        self.depth = depth
    }
}

/// The requests of a relay that the caller has not taken yet, first in, first out. A relay on its own makes none.
struct ClusterRequests: Sendable {
    /// The relay's own boot id; nil for a relay on its own.
    var boot: BootID?
    private var requests: [ClusterRequest] = []

    /// More requests than this are dropped, because the caller does not take them.
    private static let mostWaiting = 4_096

    mutating func stateChanged(in channel: ChannelIndex, isUrgent: Bool) {
        guard boot != nil else { return }
        for index in requests.indices {
            guard case .state(channel, let wasUrgent) = requests[index] else { continue }
            requests[index] = .state(channel, isUrgent: isUrgent || wasUrgent)
            return
        }
        append(.state(channel, isUrgent: isUrgent))
    }

    mutating func append(_ request: ClusterRequest) {
        if boot != nil, requests.count < Self.mostWaiting { requests.append(request) }
    }

    mutating func next() -> ClusterRequest? { requests.isEmpty ? nil : requests.removeFirst() }
}

extension Relay {
    /// Makes the relay one of a cluster. From now on, take its requests by `nextClusterRequest` after each input.
    public mutating func joinCluster(as boot: BootID) { clusterRequests.boot = boot }

    public mutating func nextClusterRequest() -> ClusterRequest? { clusterRequests.next() }

    mutating func stateChanged(in channel: ChannelIndex, claims: Bool = false) {
        clusterRequests.stateChanged(in: channel, isUrgent: claims)
    }
}
