package import TenfourSession

// Conversions between the address of a socket and the address field of a control packet.

extension PeerAddress {
    /// Converts a socket's address. The scope of a link-local address is dropped, because a scope has a meaning only on
    /// this host.
    package init(_ endpoint: Endpoint) {
        switch endpoint.address {
        case .v4(let number): self.init(v4: number, port: endpoint.port)
        case .v6(let high, let low, _): self.init(v6: UInt128(high) << 64 | UInt128(low), port: endpoint.port)
        }
    }
}

extension Endpoint {
    package init(_ address: PeerAddress) {
        if let number = address.v4 {
            self.init(.v4(number), port: address.port)
        } else {
            let number = address.v6 ?? 0
            self.init(
                .v6(high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number), scope: 0),
                port: address.port)
        }
    }
}
