internal import Glibc
internal import TenfourSession

/// The reason why datagrams could not be sent, from an errno of the socket.
enum Reachability {
    /// No program listens at the port (ICMP).
    case refused
    /// There is no way to the address.
    case noRoute
    /// A firewall of this machine forbids sending.
    case forbidden
    case other

    init(_ code: Int32) {
        switch code {
        case ECONNREFUSED: self = .refused
        case ENETUNREACH, EHOSTUNREACH, EHOSTDOWN, ENETDOWN, EADDRNOTAVAIL, EINVAL, ENONET: self = .noRoute
        case EPERM, EACCES: self = .forbidden
        default: self = .other
        }
    }

    func finding(_ endpoint: Endpoint, _ words: String) -> Finding {
        switch self {
        case .forbidden:
            return .fault(
                .firewallStopsSending, "a firewall of this machine forbids sending to \(endpoint)",
                "Let UDP out: `sudo ufw allow out to any port \(endpoint.port) proto udp`, or with nftables `sudo"
                    + " nft insert"
                    + " rule inet filter output udp dport \(endpoint.port) accept`.")
        case .noRoute, .refused, .other:
            let isIPv6 = if case .v6 = endpoint.address { true } else { false }
            return .fault(
                .noRoute, "there is no way to \(endpoint.address) (\(words))",
                "Check the network and the address: `ip \(isIPv6 ? "-6 " : "")route get \(endpoint.address)` shows"
                    + " the way that is taken."
                    + (isIPv6 ? " Without IPv6 here, use the other end's IPv4 address." : ""))
        }
    }
}
