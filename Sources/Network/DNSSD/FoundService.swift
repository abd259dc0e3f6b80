public import TenfourSession

/// A service that was found on the local network. What it says about itself is not authenticated.
public struct FoundService: Hashable, Sendable, Identifiable {
    /// Identifies the service as long as it is listed. Not for display.
    public struct ID: Hashable, Sendable {
        /// The name and domain as they were announced.
        let name: String
        let domain: String
    }

    public let id: ID
    /// The name, safe to display, at most 63 characters.
    public let name: String
    /// The host's name, such as `pi.local`, safe to display.
    public let host: String
    /// Where the service receives, in the order in which to try: IPv4 first, loopback last. At least one, at most 8.
    public let endpoints: [Endpoint]
    public let text: StationText
    /// Whether this machine announces the service.
    public let isOnThisMachine: Bool
}

/// Whether services can be found and announced.
public enum DiscoveryState: Hashable, Sendable {
    /// The message bus or avahi-daemon has not answered yet.
    case starting
    case running
    case unavailable(DiscoveryFailure)
}

/// The reason why no services can be found or announced. The attempt is repeated, so the reason may go away.
public enum DiscoveryFailure: Hashable, Sendable, CustomStringConvertible {
    /// libsystemd is not installed.
    case noLibrary
    /// There is no system bus, so that no daemon can be asked.
    case noBus
    /// avahi-daemon is not running.
    case noDaemon
    /// avahi-daemon refused or gave no answer; the text says why, and is safe to display.
    case failed(String)

    public var description: String {
        switch self {
        case .noLibrary: "stations nearby cannot be found: install libsystemd0"
        case .noBus: "stations nearby cannot be found: there is no system bus; install and start dbus and avahi-daemon"
        case .noDaemon: "stations nearby cannot be found: avahi-daemon does not run; install and start it"
        case .failed(let reason): "stations nearby cannot be found: avahi-daemon: \(reason)"
        }
    }
}
