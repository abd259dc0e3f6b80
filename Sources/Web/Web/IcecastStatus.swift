/// The state and the counters of one feed of an Icecast server since its start. They contain no password.
public struct IcecastStatus: Sendable, Equatable {
    public var channel: String
    /// The server and its mount point, such as `radio.example.org:8000/family.ogg`.
    public var target: String
    public var isConnected = false
    /// The number of times that the server has accepted the feed.
    public var connectedCount = 0
    /// The number of attempts that failed and of connections that ended, by reason.
    public var failures: [IcecastFailure: Int] = [:]
    /// The reason of the last failure; nil while connected and before the first failure.
    public var lastFailure: IcecastFailure?
    public var sentByteCount = 0
    /// The number of bytes that were not sent, because the server was away or took them too slowly.
    public var droppedByteCount = 0

    public init(channel: String, settings: IcecastSettings) {
        self.channel = channel
        target = settings.target
    }

    /// A sentence about the state, with the remedy after a failure.
    public var sentence: String {
        if isConnected { return "feeds \(target)" }
        guard let lastFailure else { return "connects to \(target)" }
        return "cannot feed \(target): \(lastFailure)"
    }
}

/// The reason why an Icecast server gets no audio.
public enum IcecastFailure: Int, CaseIterable, Sendable {
    /// No server answers at the address, or its name cannot be resolved.
    case unreachable
    /// The server accepts the connection, but does not answer.
    case silent
    /// The server refuses the user or the password.
    case password
    /// Another source feeds the mount point.
    case mountInUse
    /// The server's certificate is not trusted, or it says that it offers no encrypted connection.
    case encryption
    /// The server has closed the connection.
    case ended
    /// The server no longer takes data.
    case stalled
    /// The relay has nearly 1024 files open, and libshout can use no more.
    case tooManyOpenFiles
    case other
}

extension IcecastFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable: "the server cannot be reached; check host, port and tls in the file, and that icecast2 runs"
        case .silent:
            "the server does not answer; check in the file that port is that of an Icecast server, and that tls fits it"
        case .password: "the server refuses the user or the password; check both in the file"
        case .mountInUse: "another source feeds this mount point; stop it, or choose another mount point"
        case .encryption:
            "the server offers no encrypted connection with a trusted certificate; check its certificate, or write tls no"
        case .ended: "the server has closed the connection; its log says why"
        case .stalled: "the server takes no more data; check its load and the network"
        case .tooManyOpenFiles:
            "libshout can use only the first 1024 files that the relay has open; feed this server from another relay"
        case .other: "the server refuses the stream; its log says why"
        }
    }
}
