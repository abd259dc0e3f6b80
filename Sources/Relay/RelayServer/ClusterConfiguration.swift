public import TenfourNATS
public import TenfourRelayCluster

/// The cluster that a relay belongs to, and the NATS servers that connect its relays.
public struct ClusterConfiguration: Sendable, Equatable {
    public var key: ClusterKey
    public var nats: NATSConfiguration

    public init(key: ClusterKey, nats: NATSConfiguration) {
        self.key = key
        self.nats = nats
    }
}

/// The settings of a cluster as they are in a relay's configuration. The caller reads the files.
public struct ClusterSettings: Sendable, Equatable {
    /// The URLs of the NATS servers; empty for a relay on its own.
    public internal(set) var servers: [String] = []
    /// The paths of files by the settings that name them, such as `cluster-key`.
    public internal(set) var files: [String: String] = [:]
}
