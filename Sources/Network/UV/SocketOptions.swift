/// Options for opening a `UDPSocket`.
public struct SocketOptions: Hashable, Sendable {
    /// Lets several programs bind one port (SO_REUSEADDR), as all receivers of a multicast group on one machine must.
    /// Of two sockets at one unicast address, only one would receive each datagram.
    public var reusesAddress = false

    /// Lets the next socket with `takesYieldedPort` take the port, in this program or another. That socket then
    /// receives all datagrams until it is closed. For all other sockets the port stays in use. Sets a marker
    /// (`YieldedPort`), then SO_REUSEADDR.
    public var yieldsPort = false

    /// Takes the port even if a socket with `yieldsPort` uses it, and does not yield it to any other socket. If the
    /// port belongs to a program that only sets SO_REUSEADDR, such as GStreamer, it counts as in use. If the port is in
    /// use, opening takes 50 ms longer, because another tenfour that is starting may yield it shortly.
    public var takesYieldedPort = false

    /// The way in which several sockets of this program share the port. The C options are SO_REUSEPORT and
    /// SO_ATTACH_REUSEPORT_CBPF.
    public var portSharing = PortSharing.none

    public enum PortSharing: Hashable, Sendable {
        /// The port belongs to one socket.
        case none
        /// Opening fails if the port is in use; afterwards `joined` and `connected` sockets may share the port. The
        /// socket receives the datagrams that belong to none of the connected sockets.
        case offered
        /// Shares the port of an `offered` socket for sending only. Receives nothing.
        case joined
        /// Shares the port of an `offered` socket. Receives nothing until `UDPSocket.connect` sets the peer, and then
        /// only from that peer. It is an IPv6 socket even if the `offered` socket is IPv4.
        case connected
    }

    /// Whether an IPv6 socket carries IPv6 only. If false, it carries IPv4 too. The C option is IPV6_V6ONLY.
    public var isIPv6Only = false

    /// The differentiated services code point of outgoing datagrams, 0…63 (RFC 2474). 46 is expedited forwarding (RFC
    /// 3246), the usual value for voice; 0 is none. The C options are IP_TOS and IPV6_TCLASS.
    public var serviceCodePoint: UInt8 = 46

    /// Makes the kernel refuse a datagram that is too long for its path (EMSGSIZE) instead of fragmenting it. This also
    /// saves a tenth of the kernel's work of sending. The C options are IP_MTU_DISCOVER and IPV6_MTU_DISCOVER.
    public var neverFragments = false

    /// The size of the kernel's receive buffer in bytes; nil leaves the system's default. The kernel grants at most
    /// `net.core.rmem_max`. The C option is SO_RCVBUF.
    public var receiveBufferSize: Int?
    /// The size of the kernel's send buffer in bytes; nil leaves the system's default. The kernel grants at most
    /// `net.core.wmem_max`. The C option is SO_SNDBUF.
    public var sendBufferSize: Int?

    /// The time to live of outgoing multicast datagrams, 0…255: with 0 they stay on this machine, with 1 on the local
    /// network.
    public var multicastTimeToLive: UInt8 = 1

    /// Whether programs on this machine receive the datagrams that we send to a group.
    public var loopsMulticastBack = true

    /// The interface for outgoing multicast, by name or address; nil lets the routing table decide.
    public var multicastInterface: String?

    /// The maximum length of a datagram in bytes. A longer received datagram is counted as truncated and discarded; a
    /// longer outgoing one is not sent, and its error is EMSGSIZE. Any datagram that fits an Ethernet frame fits the
    /// default.
    public var longestDatagram = 2048

    /// The number of datagrams that wait while the kernel's buffer is full. When more wait, the oldest is dropped.
    public var sendQueueCapacity = 16

    public init() {}
}
