public import TenfourRelayCore
public import TenfourSession
public import TenfourUV

/// What a relay has to tell whoever runs it.
public enum RelayNotice: Sendable, Equatable {
    /// Members may come.
    case listening(Endpoint)
    /// RTP is taken there for a plain channel.
    case receiving(channel: String, Endpoint)
    /// A plain channel's input could not be opened when the configuration was read anew; the rest is as it says.
    case inputRefused(channel: String, Endpoint, NetworkError)
    /// Another address to listen at, or another number of threads, waits until the relay is started anew.
    case waitsForRestart
    /// What went no further since this was told last, at most once in ten seconds. The most frequent first.
    case dropped([Drop])

    public struct Drop: Sendable, Equatable {
        public var reason: Reason
        public var count: Int

        public init(reason: Reason, count: Int) {
            self.reason = reason
            self.count = count
        }
    }

    public enum Reason: Sendable, Hashable {
        /// Came in, in an encrypted channel or for none.
        case relay(RelayDiscard)
        /// Came in for a plain channel of this name.
        case plain(PlainDiscard, channel: String)
        /// Was to go out in the channel of this name, and the network took no more.
        case congestion(channel: String)
        /// Came in, and was longer than anything that is passed on.
        case tooLong
        /// Was to go out to one member, and gave way to newer ones, as the network took no more.
        case queue
        /// Was to go out, and this machine or the network refused it (`errno`).
        case network(Int32)
    }
}

extension RelayNotice.Drop: CustomStringConvertible {
    /// `12 packets: media from a stranger`.
    public var description: String { "\(count) \(count == 1 ? "packet" : "packets"): \(reason)" }
}

extension RelayNotice.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .relay(let reason): "\(reason)"
        case .plain(let reason, let channel): "\(reason), for \(channel)"
        case .congestion(let channel): "the network took no more, from \(channel)"
        case .tooLong: "longer than anything that is passed on"
        case .queue: "the network took no more, to single members"
        case .network(let code): NetworkError.text(for: code)
        }
    }
}
