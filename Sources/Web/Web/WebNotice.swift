public import TenfourSession
public import TenfourUV

/// A message from a gateway to the relay's operator.
public enum WebNotice: Sendable, Equatable {
    /// Browsers and players can connect to this address, from other machines if it is public.
    case listening(Endpoint, isPublic: Bool)
    /// A changed address of the HTTP server takes effect only when the relay is restarted.
    case waitsForRestart
    /// The HTTP server has refused requests or connections, or has closed connections early. `lastHost` is the name in the
    /// last request for a name that the operator has not written; nil if there is none.
    case refused([Refusal], lastHost: String?)
    /// Something at this address names clients in X-Forwarded-For, and no setting makes it a proxy.
    case proxyIgnored(IPAddress)
    /// A channel cannot be heard, because no socket could be opened for it.
    case channelRefused(String, NetworkError)

    /// The number of requests or connections that were refused for one reason.
    public struct Refusal: Sendable, Hashable {
        public var reason: String
        public var count: Int
    }
}

/// The reason why a gateway could not start, with its remedy.
public struct WebError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
