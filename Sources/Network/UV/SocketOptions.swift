/// How a `UDPSocket` is opened.
public struct SocketOptions: Hashable, Sendable {
    /// Lets several programs open one port, as all who hear one multicast group must. Two sockets with one unicast address
    /// would steal each other's datagrams. SO_REUSEADDR.
    public var reusesAddress = false

    /// Lets the next socket with `takesYieldedPort` have the port, in this program or another. That socket then gets what
    /// arrives until it is closed. A port that somebody else has is in use all the same. A sign for those who look, and then
    /// SO_REUSEADDR.
    public var yieldsPort = false

    /// Takes the port also where a socket with `yieldsPort` has it, and yields it to nobody. The port of a program that only
    /// sets SO_REUSEADDR, as GStreamer does, is in use. To be told so takes 50 ms, as another station may be starting.
    public var takesYieldedPort = false

    /// Whether several sockets of this program have the port. SO_REUSEPORT and SO_ATTACH_REUSEPORT_CBPF.
    public var portSharing = PortSharing.none

    public enum PortSharing: Hashable, Sendable {
        /// One socket has it.
        case none
        /// Is refused a port that somebody has; then others that are `joined` or `connected` may have it too. What is for none of
        /// those that have been connected arrives here.
        case offered
        /// Has the port of a socket that offers it, to send from it: nothing arrives.
        case joined
        /// Has the port of a socket that offers it, and hears one peer from `UDPSocket.connect` on; nothing before. Where IPv4 is
        /// offered this takes IPv6, too, of the kernel.
        case connected
    }

    /// Keeps an IPv6 socket from carrying IPv4 too. IPV6_V6ONLY.
    public var isIPv6Only = false

    /// The differentiated services code point of what is sent, 0…63 (RFC 2474). 46 is expedited forwarding (RFC 3246), the
    /// usual one for voice; 0 is none. IP_TOS and IPV6_TCLASS.
    public var serviceCodePoint: UInt8 = 46

    /// Has what is too long for its path refused with EMSGSIZE, not cut into fragments. It also spares the kernel a tenth of
    /// the work of sending. IP_MTU_DISCOVER and IPV6_MTU_DISCOVER.
    public var neverFragments = false

    /// Bytes that the kernel may hold for us; nil leaves the default of the system. It grants at most
    /// `net.core.rmem_max` and `wmem_max`. SO_RCVBUF and SO_SNDBUF.
    public var receiveBufferSize: Int?
    public var sendBufferSize: Int?

    /// How many routers a multicast datagram may pass, 0…255: 0 stays in this machine, 1 in this network.
    public var multicastTimeToLive: UInt8 = 1

    /// Whether programs on this machine hear what we send to a group.
    public var loopsMulticastBack = true

    /// Where multicast is sent, by the name of the interface or one of its addresses; nil lets the route decide.
    public var multicastInterface: String?

    /// Bytes. A longer datagram that arrives is counted as truncated and not handed on; one to be sent is refused with
    /// EMSGSIZE. What fits an Ethernet frame fits the default.
    public var longestDatagram = 2048

    /// How many datagrams wait when the kernel's buffer is full, before the oldest of them is dropped.
    public var sendQueueCapacity = 16

    public init() {}
}
