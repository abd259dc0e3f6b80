public import TenfourSession

/// Counts the connections and requests of an HTTP server since its start.
public struct HTTPServerStatus: Sendable, Hashable {
    /// The number of connections that are open now.
    public internal(set) var connectionCount = 0
    /// The number of requests that the server's owner has answered.
    public internal(set) var requestCount = 0
    /// The number of connections that were closed at once because there were too many.
    public internal(set) var refusedConnectionCount = 0
    /// The number of connections that were closed to make room for one of a smaller network.
    public internal(set) var displacedConnectionCount = 0
    /// The number of connections that were closed because their request or answer took too long.
    public internal(set) var expiredConnectionCount = 0
    /// The number of requests that were refused, by reason.
    public internal(set) var refusals: [HTTPRefusal: Int] = [:]
    /// The name in the last request that was refused for its Host.
    public internal(set) var lastRefusedHost: String?
    /// The address in a private network, or of this machine, from which a client is named in X-Forwarded-For although no
    /// proxy there is trusted.
    public internal(set) var ignoredProxy: IPAddress?

    public init() {}

    /// All that was refused or closed early, by reason.
    public var counts: [(reason: String, count: Int)] {
        [
            ("connection_refused", refusedConnectionCount), ("connection_displaced", displacedConnectionCount),
            ("too_slow", expiredConnectionCount),
        ] + HTTPRefusal.allCases.map { ($0.rawValue, refusals[$0] ?? 0) }
    }
}
