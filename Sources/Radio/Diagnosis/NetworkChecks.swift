extension DiagnosticCheck {
    /// Whether there is a network, and one way out of it.
    static let network = DiagnosticCheck(name: "network") { facts in
        facts.network.map { [$0.routeFinding(facts.subject)] }
    }

    /// Whether packets fit through the network.
    static let mtu = DiagnosticCheck(name: "packet size") { facts in facts.network.map { $0.sizeFindings } }

    /// Whether stations nearby can be heard of.
    static let multicast = DiagnosticCheck(name: "multicast") { facts in facts.network.flatMap { $0.multicastFindings }
    }
}

extension NetworkFacts {
    func routeFinding(_ subject: Subject) -> Finding {
        let up = outward.map(\.name)
        guard !up.isEmpty else {
            let down = interfaces.filter { !$0.isLoopback }.map(\.name)
            guard let first = down.first else {
                return .fault(
                    .noNetwork, "this machine has no network interface",
                    "Plug in a network adapter, or switch the wireless network on: `nmcli radio wifi on`.")
            }
            return .fault(
                .noNetwork,
                "no network is connected: \(down.joined(separator: ", ")) \(down.count > 1 ? "are" : "is") down",
                "Plug in the cable or join a wireless network: `sudo ip link set dev \(first) up`, or `nmtui`.")
        }
        for isIPv6 in [false, true] {
            let own = routes.filter { $0.isIPv6 == isIPv6 }
            guard Set(own.map(\.interface)).count > 1, let best = own.min(by: { $0.metric < $1.metric }) else {
                continue
            }
            let names = own.map(\.interface).joined(separator: " and ")
            let isTie = own.filter { $0.metric == best.metric }.count > 1
            let other = own.first { $0 != best }?.interface ?? best.interface
            return .limit(
                .twoRoutes,
                "there are two default routes, by \(names)"
                    + (isTie ? ", with the same metric" : "; audio goes by \(best.interface)"),
                "If the other end is not reached, switch one off: `nmcli device disconnect \(other)`, or"
                    + " `sudo ip route del default dev \(other)`.")
        }
        guard !routes.isEmpty else {
            return .note(
                .noRoute,
                "there is no default route, so that only the networks of \(up.joined(separator: ", ")) are reached",
                "To reach others, ask for an address: `sudo dhclient \(up[0])`, or `nmcli device connect \(up[0])`.")
        }
        return .well("the network is reached by \(routes[0].interface)")
    }

    /// The smallest size that every IPv6 network carries. tenfour's packets of speech are far shorter.
    static let usualMTU = 1_280
    /// The largest MTU of a network's frames. Above it, packets do not leave the machine.
    private static let longestFrame = 16_384

    var sizeFindings: [Finding] {
        let small = outward.filter { ($0.mtu ?? Self.usualMTU) < Self.usualMTU }
        if let interface = small.first, let mtu = interface.mtu {
            return [
                .limit(
                    .smallMTU, "packets through \(interface.name) are limited to \(mtu) bytes (its MTU)",
                    "Set it to the usual size: `sudo ip link set dev \(interface.name) mtu 1500`. Until then,"
                        + " \(Self.rateHint(mtu))."
                )
            ]
        }
        if let pathMTU, pathMTU < Self.usualMTU {
            return [
                .limit(
                    .smallMTU,
                    "packets to the other end are limited to \(pathMTU) bytes by a router or tunnel on the way",
                    "Raise the MTU of the tunnel, or \(Self.rateHint(pathMTU)).")
            ]
        }
        let known = outward.compactMap(\.mtu).min()
        // The loopback interface carries packets of 65 536 bytes, which says nothing about a network.
        if let pathMTU, pathMTU > Self.longestFrame {
            return [.well("packets of any size go through, because the other end is this machine")]
        }
        return [.well("packets of \(pathMTU ?? known ?? Self.usualMTU) bytes go through")]
    }

    /// The bit rate at which a packet of 20 ms and one redundant copy fit, with headers and encryption.
    private static func rateHint(_ mtu: Int) -> String {
        let kilobits = max((mtu - 28 - 12 - 40) * 8 / 20 / 2 / 16 * 16, 8)
        return "use at most `--bitrate \(kilobits)k` with `--frame 20`"
    }

    /// Nil without a network, which is a finding of its own.
    var multicastFindings: [Finding]? {
        guard let first = outward.first else { return nil }
        let able = outward.filter(\.isMulticast)
        guard able.isEmpty else {
            return [.well("multicast works on \(able.map(\.name).joined(separator: ", "))")]
        }
        return [
            .limit(
                .noMulticast,
                "there is no multicast on \(outward.map(\.name).joined(separator: ", ")), so that stations nearby are"
                    + " not found",
                "Switch it on: `sudo ip link set dev \(first.name) multicast on`. A tunnel may have none: then name the"
                    + " other end by its address.")
        ]
    }
}
