public import TenfourSession

/// The limits of an HTTP server: numbers of connections, times and lengths. The defaults suit a server on the public
/// Internet.
public struct HTTPLimits: Sendable {
    /// The maximum number of connections. Further ones are closed at once.
    public var connectionCount = 4096
    /// The maximum number of connections of one address. Further ones are closed at once; those that come through a
    /// trusted proxy are answered with 429.
    public var connectionCountPerAddress = 64
    /// Returns whether an address is that of a trusted proxy. Only `connectionCount` limits a proxy's connections: the
    /// limit per address applies to the client that the proxy names in X-Forwarded-For. Default: loopback addresses.
    public var isProxy: @Sendable (IPAddress) -> Bool = \.isLoopback
    /// The maximum time from the connection, or the end of the last answer, to the end of the next request's header.
    public var requestTime = Duration.seconds(10)
    /// The maximum time from a request to the end of its answer, unless the answer is a stream.
    public var answerTime = Duration.seconds(60)
    /// The maximum length of a request's target, escapes included. A longer one is answered with 414.
    public var targetByteCount = 2048

    public init() {}
}
