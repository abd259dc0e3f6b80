internal import TenfourAudioCore
public import TenfourSession
public import TenfourUV

/// Whether names of hosts are found.
public struct NameFacts: Sendable {
    public enum Outcome: Sendable {
        case found([Endpoint])
        case failed(NetworkError)
        /// No answer within this check's time.
        case slow
    }

    public struct Lookup: Sendable {
        /// The name as it was typed.
        public var name: String
        public var outcome: Outcome

        public init(name: String, outcome: Outcome) {
            self.name = name
            self.outcome = outcome
        }

        var isFound: Bool { if case .found = outcome { true } else { false } }
    }

    /// Whether the system looks up names that end in `.local` by multicast DNS.
    public var findsLocalNames: Bool
    public var lookups: [Lookup] = []

    public init(findsLocalNames: Bool, lookups: [Lookup] = []) {
        self.findsLocalNames = findsLocalNames
        self.lookups = lookups
    }

    init(on machine: Machine) {
        let hosts = machine.text(of: "/etc/nsswitch.conf")?.split(separator: "\n").first { $0.hasPrefix("hosts:") }
        // systemd-resolved, the module "resolve", may answer such names, too.
        findsLocalNames = hosts.map { $0.contains("mdns") || $0.contains("resolve") } ?? false
    }
}

extension DiagnosticCheck {
    /// Whether the names of the other ends are found.
    static let names = DiagnosticCheck(name: "names") { facts in facts.names.map { $0.findings(facts.packages) } }
}

extension NameFacts {
    func findings(_ packages: PackageManager) -> [Finding] {
        let install = "Let this machine look such names up: \(packages.command("libnss-mdns"))."
        guard !lookups.isEmpty else {
            guard findsLocalNames else {
                return [.limit(.noLocalNames, "names such as bob.local cannot be looked up", install)]
            }
            return [.well("names such as bob.local can be looked up")]
        }
        return lookups.map { lookup in
            let name = String(fromPeer: lookup.name)
            let isLocal = name.lowercased().hasSuffix(".local")
            switch lookup.outcome {
            case .found(let endpoints):
                return .well(
                    "the name \(name) is that of \(endpoints.prefix(3).map { "\($0.address)" }.joined(separator: ", "))"
                )
            case .failed where isLocal && !findsLocalNames, .slow where isLocal && !findsLocalNames:
                return .fault(
                    .noLocalNames, "the name \(name) is not found, because names in .local are not looked up", install)
            case .failed(let error):
                if case .unknownHost = error.reason {
                    let remedy =
                        isLocal
                        ? "Check the spelling, and that avahi-daemon runs on that machine; `avahi-browse -at` lists"
                            + " those that are found."
                        : "Check the spelling, or give its IP address. `ip address` on that machine shows it."
                    return .fault(.unknownName, "no host is called \(name)", remedy)
                }
                if case .interfaceMissing(let address) = error.reason {
                    return .fault(
                        .noRoute, "\(address) is a link-local address, and its interface is missing",
                        "Write it as \(address)%INTERFACE; `ip -6 address` shows the interfaces.")
                }
                return .fault(
                    .noNameServer, "the name \(name) cannot be looked up: no name server answers", Self.serverRemedy)
            case .slow:
                return .fault(.noNameServer, "the lookup of \(name) takes longer than three seconds", Self.serverRemedy)
            }
        }
    }

    private static let serverRemedy =
        "Check the network, and the name server in /etc/resolv.conf (`resolvectl status`). Or give the IP address."
}
