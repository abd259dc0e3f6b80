public import TenfourSession

/// The limits of an HTTP server: numbers of connections, times and lengths, and the hosts for which it answers. The
/// defaults suit a server on the public Internet.
public struct HTTPLimits: Sendable {
    /// The hosts for which the server answers. A request for another one is answered with 421, and one of another site's
    /// page with 403.
    public var hosts = HTTPHosts()
    /// The maximum number of connections. A further one displaces the newest connection of the network (IPv4 /24, IPv6 /48)
    /// with the most, if that has more than twice as many as the newcomer's network; otherwise it is closed at once.
    public var connectionCount = 4096
    /// The maximum number of connections of one address. Further ones are closed at once; those that come through a
    /// trusted proxy are answered with 429.
    public var connectionCountPerAddress = 64
    /// Returns whether an address is that of a trusted proxy. Only `connectionCount` limits a proxy's connections: the
    /// other limits apply to the client that the proxy names in X-Forwarded-For. Default: no address is one.
    public var isProxy: @Sendable (IPAddress) -> Bool = { _ in false }
    /// The maximum time from the connection, or the end of the last answer, to the end of the next request's header.
    public var requestTime = Duration.seconds(10)
    /// The maximum time from a request to the end of its answer, unless the answer is a stream.
    public var answerTime = Duration.seconds(60)
    /// The maximum length of a request's target, escapes included. A longer one is answered with 414.
    public var targetByteCount = 2048

    public init() {}
}
