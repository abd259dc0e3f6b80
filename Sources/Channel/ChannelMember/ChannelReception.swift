public import TenfourSession

extension Channel {
    /// The result of receiving a datagram from the network.
    public enum Reception: Hashable, Sendable {
        /// `nextOpened` has something for the RTP session.
        case opened
        case handled
        /// Kept until it can be opened.
        case held
        case discarded(ChannelDiscard)
    }

    /// The kind of packet that `nextOpened` has written. `RTPSession.receive` tells them apart by itself.
    public enum Opened: Hashable, Sendable {
        /// RTP of another member, with its padding.
        case media
        /// RTCP of the relay.
        case control
    }

    /// The address that the RTP session has for its one remote, and for its sources. No datagram ever goes there.
    public static let sessionEndpoint = Endpoint(.anyV4, port: 5_004)
    public var sessionEndpoint: Endpoint { Self.sessionEndpoint }
    /// `nextDatagram` and `nextOpened` need room for this many bytes.
    public static let maximumDatagramByteCount = 1_536
}
