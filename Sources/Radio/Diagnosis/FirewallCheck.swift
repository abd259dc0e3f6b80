/// What a firewall of this machine does with datagrams to our port.
public struct FirewallFacts: Sendable {
    public enum Frontend: Hashable, Sendable { case ufw, firewalld, nftables }

    /// The verdict of the rules of netfilter on a datagram from another machine.
    public enum Verdict: Hashable, Sendable {
        case accepts
        /// The base chain that drops it, such as `inet filter input`.
        case drops(chain: String)
        /// The base chain that drops it if it comes by IPv6. By IPv4 it is accepted.
        case dropsIPv6(chain: String)
        /// Rules that this module cannot judge decide, in this base chain.
        case mayDrop(chain: String)
    }

    public var port: UInt16
    /// The program that manages the rules; nil if none is seen.
    public var frontend: Frontend?
    /// Nil if this user may not read the rules.
    public var verdict: Verdict?
    /// Whether a datagram to this machine's own address arrived; nil if that was not tried.
    public var ownArrives: Bool?

    public init(port: UInt16, frontend: Frontend?, verdict: Verdict?, ownArrives: Bool? = nil) {
        self.port = port
        self.frontend = frontend
        self.verdict = verdict
        self.ownArrives = ownArrives
    }
}

extension DiagnosticCheck {
    /// Whether datagrams of other stations come in.
    static let firewall = DiagnosticCheck(name: "firewall") { facts in
        facts.firewall.map { [$0.finding(usesRelay: facts.subject.usesRelay)] }
    }
}

extension FirewallFacts {
    func finding(usesRelay: Bool) -> Finding {
        if usesRelay { return .well("a channel with a relay needs no open port") }
        switch verdict {
        case .drops(let chain):
            return .fault(.firewallDrops, "a firewall of this machine drops UDP to port \(port)", remedy(chain))
        case .dropsIPv6(let chain):
            return .limit(
                .firewallDrops, "a firewall of this machine drops UDP to port \(port) that comes by IPv6", remedy(chain)
            )
        case .mayDrop(let chain) where frontend != nil:
            return .limit(
                .firewallMayDrop, "a firewall of this machine drops most datagrams, and may drop UDP to port \(port)",
                remedy(chain))
        case .accepts: return .well("no firewall of this machine drops UDP to port \(port)")
        case .mayDrop(let chain):
            return .limit(
                .firewallMayDrop, "a firewall of this machine may drop UDP to port \(port)", remedy(chain))
        case nil: break
        }
        if ownArrives == false {
            return .fault(
                .firewallDrops, "a firewall of this machine drops UDP to port \(port), even from itself",
                remedy("inet filter input"))
        }
        if frontend != nil {
            return .note(
                .firewallUnseen, "this machine has a firewall (\(name)), whose rules only root can read",
                "`sudo tenfour doctor` tells whether it drops UDP port \(port). To open the port:"
                    + " \(opening("inet filter input"))."
            )
        }
        // A firewall need not belong to a program that is known here, and may let this machine's own datagrams pass.
        return .note(
            .firewallUnseen, "whether a firewall of this machine drops UDP to port \(port) cannot be seen",
            "`sudo tenfour doctor` tells it, if nftables is installed.")
    }

    private var name: String {
        switch frontend {
        case .ufw: "ufw"
        case .firewalld: "firewalld"
        case .nftables, nil: "nftables"
        }
    }

    private func remedy(_ chain: String) -> String { "Open the port: \(opening(chain))." }

    private func opening(_ chain: String) -> String {
        switch frontend {
        case .ufw: "`sudo ufw allow \(port)/udp`"
        case .firewalld: "`sudo firewall-cmd --permanent --add-port=\(port)/udp && sudo firewall-cmd --reload`"
        case .nftables, nil:
            "`sudo nft insert rule \(chain) udp dport \(port) accept`, and the same in /etc/nftables.conf"
        }
    }
}

extension FirewallFacts {
    static func gathered(port: UInt16, on machine: Machine) -> FirewallFacts {
        FirewallFacts(port: port, frontend: frontend(machine), verdict: verdict(port))
    }

    static func frontend(_ machine: Machine) -> Frontend? {
        if let ufw = machine.text(of: "/etc/ufw/ufw.conf"),
            ufw.split(separator: "\n").contains(where: { $0.lowercased() == "enabled=yes" })
        {
            return .ufw
        }
        if machine.exists("/run/firewalld") || machine.exists("/run/firewalld.pid") { return .firewalld }
        // The unit that loads the rules at start, if it is enabled.
        let unit = "/etc/systemd/system/sysinit.target.wants/nftables.service"
        return machine.exists(unit) ? .nftables : nil
    }

    /// Reads the rules with `nft`, which only root may.
    private static func verdict(_ port: UInt16) -> Verdict? {
        for path in ["/usr/sbin/nft", "/sbin/nft", "/usr/bin/nft"] {
            guard let output = CommandOutput.of([path, "--json", "list", "ruleset"], within: .seconds(2)) else {
                continue
            }
            return NetfilterRules(parsing: output)?.verdict(onPort: port)
        }
        return nil
    }
}
