public import TenfourSession

/// What the station at the other end answered.
public struct OtherEndFacts: Sendable {
    /// The answers, best first.
    public enum Answer: Hashable, Sendable {
        /// The station answered a probe after this time; its name is safe to display.
        case station(Duration, name: String)
        /// The link test's other end (`radiocheck --answer`) sent the packets back.
        case linkTest
        /// The link test's other end is serving somebody else.
        case linkTestBusy
        /// It sends RTP or RTCP, and knows no calls. The name is that of its source description, safe to display.
        case plainRTP(name: String)
        /// The address is that of this station.
        case itself
        /// It answered with datagrams that are none of ours.
        case otherProtocol
        /// The machine refused the packets (ICMP: port unreachable).
        case refused
        /// The network or this machine has no way there: the errno, and its text.
        case notSent(Int32, String)
        /// Nothing came back.
        case silent
    }

    public var endpoint: Endpoint
    public var answer: Answer
    /// The version that the station announces on the local network; nil if unknown.
    public var announcedVersion: String?
    public var ownVersion: String

    public init(endpoint: Endpoint, answer: Answer, announcedVersion: String? = nil, ownVersion: String) {
        self.endpoint = endpoint
        self.answer = answer
        self.announcedVersion = announcedVersion
        self.ownVersion = ownVersion
    }
}

extension DiagnosticCheck {
    /// Whether the station at the other end answers.
    static let otherEnd = DiagnosticCheck(name: "other end") { facts in
        // A name that is not found is a finding of its own.
        if let lookup = facts.names?.lookups.first, !lookup.isFound { return [] }
        return facts.otherEnd.map { [$0.finding] }
    }
}

extension OtherEndFacts {
    var finding: Finding {
        switch answer {
        case .station(let time, let name):
            let shown = name.isEmpty ? "the station at \(endpoint)" : "the station \(name) at \(endpoint)"
            if let version = announcedVersion, !version.isEmpty, version != ownVersion {
                return .note(
                    .otherVersion, "\(shown) answers; it runs tenfour \(version), and this is \(ownVersion)",
                    "Install the newer version on both machines.")
            }
            return .well("\(shown) answers after \(milliseconds(time)) ms")
        case .linkTest:
            return .well("the link test at \(endpoint) sends packets back; `tenfour-radiocheck` measures the way")
        case .linkTestBusy: return .well("the link test at \(endpoint) answers, and is busy with another client")
        case .plainRTP(let name):
            let version = announcedVersion.map { " \($0)" } ?? ""
            return .limit(
                .olderStation,
                "\(endpoint)\(name.isEmpty ? "" : " (\(name))") talks RTP and knows no calls: an older"
                    + " tenfour\(version), or another program",
                "You can talk with it; it does not ring and is not probed. For calls, install tenfour \(ownVersion)"
                    + " or later there."
            )
        case .itself:
            return .note(
                .itself, "\(endpoint) is the address of this station itself", "Name the other end's address.")
        case .otherProtocol:
            return .fault(
                .otherProtocol, "\(endpoint) answers with another protocol than tenfour's",
                "Check the port: tenfour uses 5004 unless it is told another with -p. Name it as HOST:PORT.")
        case .refused:
            return .fault(
                .refused,
                "the machine at \(endpoint.address) runs, but no program listens at UDP port \(endpoint.port)",
                "Start `tenfour talk` there, or check the port: its -p has to be \(endpoint.port).")
        case .notSent(let code, let words): return notSent(code, words)
        case .silent:
            return .fault(
                .silent, "nothing comes back from \(endpoint)",
                "Check that `tenfour talk` runs there, and that its firewall lets UDP port \(endpoint.port) in:"
                    + " `tenfour doctor` on that machine tells. If it is behind another router, use a channel with a"
                    + " relay."
            )
        }
    }

    private func notSent(_ code: Int32, _ words: String) -> Finding {
        Reachability(code).finding(endpoint, words)
    }

    private func milliseconds(_ time: Duration) -> Int64 {
        time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000
    }
}
