public import TenfourSession

extension Channel {
    /// The result of receiving a datagram from the network.
    public enum Reception: Hashable, Sendable {
        /// The datagram was decrypted. `nextOpened` returns a packet for the RTP session.
        case opened
        case handled
        /// The packet is stored until the announcement of its key arrives.
        case held
        case discarded(ChannelDiscard)
    }

    /// The kind of packet that `nextOpened` has appended. `RTPSession.receive` recognises RTP and RTCP without this
    /// information.
    public enum Opened: Hashable, Sendable {
        /// RTP of another member, still padded.
        case media
        /// RTCP from the relay.
        case control
    }

    /// The RTP session's only remote endpoint, and the sender of all packets that the session receives. No datagram is
    /// ever sent to this address.
    public static let sessionEndpoint = Endpoint(.anyV4, port: 5_004)
    public var sessionEndpoint: Endpoint { Self.sessionEndpoint }
    /// The maximum length in bytes of a datagram or packet that `nextDatagram` or `nextOpened` appends.
    public static let maximumDatagramByteCount = 1_536
}
