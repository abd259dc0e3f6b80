public import TenfourRelayCore
public import TenfourSession
public import TenfourUV

/// What a relay at work has done since it began, in numbers for people. Holds no secret and no member's address.
public struct RelayServerStatus: Sendable, Equatable {
    public var listening: Endpoint
    public var uptime: Duration = .zero
    /// Threads that send.
    public var workers = 1
    /// Talkers who have a socket of their own.
    public var talkerSockets = 0
    /// The encrypted channels.
    public var relay = RelayStatus()
    /// What was sent to each of those, in the same order.
    public var fanOuts: [FanOutStatistics] = []
    public var plain: [Plain] = []
    /// What was sent to single members: answers, repairs, good-byes; and what no socket could take in or send, by `errno`.
    public var socket = SocketStatistics()

    /// A channel without encryption.
    public struct Plain: Sendable, Equatable {
        public var name: String
        public var targetCount: Int
        /// Packets that were passed on.
        public var received = 0
        public var discards: [PlainDiscard: Int] = [:]
        public var fanOut = FanOutStatistics()

        public init(name: String, targetCount: Int) {
            self.name = name
            self.targetCount = targetCount
        }
    }

    public init(listening: Endpoint) { self.listening = listening }
}

/// Why a datagram that came for a plain channel went no further.
public enum PlainDiscard: Int, CaseIterable, Sendable {
    /// Not from the host that the operator named.
    case stranger
    /// Not RTP of version 2, or cut short.
    case malformed
    /// RTCP: what one hop says of itself is nothing for another's listeners.
    case control
    /// Beyond the packets or bits of an input in a second.
    case tooMuch
}

extension PlainDiscard: CustomStringConvertible {
    /// For people.
    public var description: String {
        switch self {
        case .stranger: "from a host that is not named"
        case .malformed: "not RTP"
        case .control: "RTCP"
        case .tooMuch: "beyond what is taken in a second"
        }
    }
}
