public import TenfourDNSSD
public import TenfourSession

/// The stations that announce themselves on the local network.
public struct NearbyFacts: Sendable {
    public struct Station: Sendable {
        /// Safe to display.
        public var name: String
        /// Safe to display; empty if it is not told.
        public var version: String
        public var endpoints: [Endpoint]
        /// The round trip of a probe; nil if the station did not answer.
        public var answered: Duration?

        public init(name: String, version: String, endpoints: [Endpoint], answered: Duration?) {
            self.name = name
            self.version = version
            self.endpoints = endpoints
            self.answered = answered
        }
    }

    public var state: DiscoveryState
    /// The stations on other machines, at most 64.
    public var stations: [Station]
    /// The version of this program.
    public var ownVersion: String

    public init(state: DiscoveryState, stations: [Station], ownVersion: String) {
        self.state = state
        self.stations = stations
        self.ownVersion = ownVersion
    }
}

extension DiagnosticCheck {
    /// Which stations are nearby, and whether they answer.
    static let nearby = DiagnosticCheck(name: "nearby") { facts in facts.nearby.map { $0.findings(facts.packages) } }
}

extension NearbyFacts {
    func findings(_ packages: PackageManager) -> [Finding] {
        switch state {
        case .unavailable(.noLibrary):
            return [
                .limit(
                    .noAvahi, "stations nearby are not found: libsystemd is missing",
                    "Install it: \(packages.command("libsystemd0")).")
            ]
        case .unavailable(.noBus):
            return [
                .limit(
                    .noAvahi, "stations nearby are not found: there is no system bus",
                    "Install and start it: \(packages.command("dbus", "avahi-daemon")), then `sudo systemctl start"
                        + " dbus avahi-daemon`."
                )
            ]
        case .unavailable(.noDaemon), .starting:
            return [
                .limit(
                    .noAvahi, "stations nearby are not found: avahi-daemon does not run",
                    "Install and start it: \(packages.command("avahi-daemon")), then `sudo systemctl enable --now"
                        + " avahi-daemon`."
                )
            ]
        case .unavailable(.failed(let reason)):
            return [
                .limit(
                    .noAvahi, "stations nearby are not found: avahi-daemon: \(reason)",
                    "Restart it: `sudo systemctl restart avahi-daemon`.")
            ]
        case .running: break
        }
        guard !stations.isEmpty else { return [.well("avahi-daemon runs; no other station announces itself")] }
        return stations.map { station in
            let shown = "the station \(station.name) at \(station.endpoints.first.map { "\($0)" } ?? "?")"
            guard station.answered != nil else {
                return .note(
                    .stationUnreachable, "\(shown) is announced and does not answer",
                    "Check that it still runs, and that its firewall lets UDP through: `tenfour doctor` on that"
                        + " machine tells."
                )
            }
            guard station.version.isEmpty || station.version == ownVersion else {
                return .note(
                    .otherVersion, "\(shown) runs tenfour \(station.version); this is \(ownVersion)",
                    "Install the newer version on both machines.")
            }
            return .well("\(shown) answers")
        }
    }
}
