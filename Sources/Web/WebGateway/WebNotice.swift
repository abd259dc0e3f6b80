public import TenfourSession
public import TenfourUV

/// A message from a gateway to the relay's operator.
public enum WebNotice: Sendable, Equatable {
    /// Browsers and players can connect to this address, from other machines if it is public.
    case listening(Endpoint, isPublic: Bool)
    /// A changed address of the HTTP server takes effect only when the relay is restarted.
    case waitsForRestart
    /// A channel cannot be heard, because no socket could be opened for it.
    case channelRefused(String, NetworkError)
}

/// The reason why a gateway could not start, with its remedy.
public struct WebError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
