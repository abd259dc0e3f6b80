internal import TenfourChannelKeys
internal import TenfourSession

/// Where an address can be reached, by the address alone.
enum AddressReach: Hashable, Sendable {
    /// Anywhere.
    case global
    /// In the network of the member only: private (RFC 1918), shared (RFC 6598), unique local (RFC 4193), link-local.
    case local
    /// Nothing is ever sent there.
    case forbidden

    init(_ address: PeerAddress) {
        if let number = address.v4 ?? address.innerV4 {
            self.init(v4: number)
        } else {
            self.init(v6: address.v6 ?? 0)
        }
    }

    private init(v4 number: UInt32) {
        let address = IPAddress.v4(number)
        switch number >> 24 {
        case 0, 127, 224...: self = .forbidden
        default: self = address.isPrivate || address.isLinkLocal ? .local : .global
        }
    }

    private init(v6 number: UInt128) {
        let first = UInt32(truncatingIfNeeded: number >> 96)
        let address = IPAddress.v6(
            high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number), scope: 0)
        if first == 0x2001_0000 {
            // Teredo (RFC 4380) hides the IPv4 address of a relay and of a client.
            self = .forbidden
        } else if address.isPrivate {
            self = .local
        } else {
            // 2000::/3 is all that is assigned for global unicast. A link-local address needs a scope, which a candidate
            // does not have.
            self = first >> 29 == 1 ? .global : .forbidden
        }
    }
}

/// Decides to which candidates of another member probes may be sent.
struct CandidateJudge: Sendable {
    enum Verdict: Hashable, Sendable {
        case used
        /// It is an address in a network that is not known to be that of both members.
        case elsewhere
        case forbidden
    }

    /// This member's address as the relay sees it.
    var view: PeerAddress
    /// The addresses of the relay; their ports do not matter.
    var relays: [PeerAddress]
    /// Whether the relay says that both members are at one address.
    var sharesNetwork: Bool

    static let lowestPort: UInt16 = 1024

    /// Judges an address of a member that says that the relay sees it at `otherView`. The relay must say the same: a member
    /// alone cannot make others send into their own networks.
    func verdict(on address: PeerAddress, otherView: PeerAddress) -> Verdict {
        guard address.port >= Self.lowestPort, !relays.contains(where: { $0.host == address.host }) else {
            return .forbidden
        }
        switch AddressReach(address) {
        case .forbidden: return .forbidden
        case .global: return .used
        case .local:
            let isShared = sharesNetwork && AddressReach(view) == .global && view.network == otherView.network
            return isShared ? .used : .elsewhere
        }
    }
}

extension PeerAddress {
    /// The address without its port: that of the host that is reached. Of NAT64 and 6to4 addresses it is the IPv4 address
    /// inside, so that one host has one address in all bounds.
    var host: PeerAddress {
        if let number = v4 ?? innerV4 { PeerAddress(v4: number, port: 0) } else { PeerAddress(v6: v6 ?? 0, port: 0) }
    }

    /// The IPv4 address, or the first 64 bits of the IPv6 address, without the port.
    var network: PeerAddress {
        if let v4 { PeerAddress(v4: v4, port: 0) } else { PeerAddress(v6: (v6 ?? 0) & ~UInt128(UInt64.max), port: 0) }
    }

    /// The IPv4 address inside a NAT64 address (64:ff9b::/96, RFC 6052) or a 6to4 address (2002::/16, RFC 3056).
    fileprivate var innerV4: UInt32? {
        guard let number = v6 else { return nil }
        if number >> 32 == 0x0064_FF9B << 64 { return UInt32(truncatingIfNeeded: number) }
        if number >> 112 == 0x2002 { return UInt32(truncatingIfNeeded: number >> 80) }
        return nil
    }
}
