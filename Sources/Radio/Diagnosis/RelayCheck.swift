public import TenfourChannelKeys
public import TenfourSession

/// What one relay of a channel answered.
public struct RelayFacts: Sendable {
    public enum Answer: Sendable {
        /// The relay would let us in. It sees us at this address.
        case welcome(Duration, seenAt: String)
        case refusal(Refusal.Reason)
        /// It has not shown that it is the relay in the link.
        case doubt(RelayDoubt)
        /// It answered HELLO, and not JOIN.
        case onlyCookie
        /// It speaks another version of the control protocol, with this number.
        case otherVersion(UInt8)
        case otherProtocol
        /// No program listens at the port (ICMP).
        case refused
        case notSent(Int32, String)
        case silent
        /// The host has no address.
        case notFound
    }

    public var host: RelayHost
    /// Nil if the name was not found.
    public var endpoint: Endpoint?
    public var answer: Answer
    /// The name of the channel.
    public var channel: String
    /// Whether the link lets us talk, and not only listen.
    public var mayTalk: Bool

    public init(host: RelayHost, endpoint: Endpoint?, answer: Answer, channel: String, mayTalk: Bool = true) {
        self.host = host
        self.endpoint = endpoint
        self.answer = answer
        self.channel = channel
        self.mayTalk = mayTalk
    }
}

extension DiagnosticCheck {
    /// Whether a relay of the channel lets this station in.
    static let relay = DiagnosticCheck(name: "relay") { facts in
        facts.relays.flatMap { relays in
            guard !relays.isEmpty else { return nil }
            let findings = relays.map(\.finding)
            // One relay of several is enough.
            guard findings.contains(where: { $0.severity < .limit }) else { return findings }
            return findings.map { finding in
                var finding = finding
                if finding.severity == .fault { finding.severity = .limit }
                return finding
            }
        }
    }
}

extension RelayFacts {
    private var place: String { "the relay " + (endpoint.map { "\(host.name) (\($0))" } ?? "\(host)") }

    var finding: Finding {
        switch answer {
        case .welcome(_, let address):
            let limits = mayTalk ? "" : ", only to listen"
            return .well("\(place) lets you into the channel \(channel)\(limits); it sees you at \(address)")
        case .refusal(let reason): return refusal(reason)
        case .doubt(let doubt):
            return .fault(
                .relayUnproved, "\(place) is not joined, because \(doubt.reason)",
                doubt.remedy.prefix(1).uppercased() + doubt.remedy.dropFirst() + ".")
        case .onlyCookie:
            return .fault(
                .relayRefuses, "\(place) answers, but not the request to join",
                "It may be overloaded, or not accept you for now: try again in a minute, or ask its operator.")
        case .otherVersion(let version):
            return .fault(
                .otherVersion,
                "\(place) speaks version \(version) of the relay's protocol; this tenfour speaks version 1",
                "Install the newer version of tenfour on both machines.")
        case .otherProtocol:
            return .fault(
                .otherProtocol, "\(place) answers with another protocol than a relay's",
                "Check host and port in the link; ask the person who made it.")
        case .refused:
            return .fault(
                .refused, "the machine of \(place) runs, but no program listens at UDP port \(host.port)",
                "Start the relay there (`systemctl status tenfour-relay`), or check the port in the link.")
        case .notSent(let code, let words):
            guard let endpoint else { return .fault(.noRoute, "nothing can be sent to \(place)", "Check the network.") }
            return Reachability(code).finding(endpoint, words)
        case .silent:
            return .fault(
                .silent, "nothing comes back from \(place)",
                "Check that the relay runs (`systemctl status tenfour-relay` there), and that its firewall lets UDP"
                    + " port \(host.port) in."
            )
        case .notFound:
            return .fault(
                .unknownName, "the relay's host \(host) is not found", "The check \"names\" tells why, and what to do.")
        }
    }

    private func refusal(_ reason: Refusal.Reason) -> Finding {
        switch reason {
        case .unproved:
            return .fault(
                .unknownChannel,
                "\(place) does not know the channel \(channel), or the link's secret is wrong",
                "Compare the link with that of another member. The operator adds the line that `tenfour channel"
                    + " keys` prints"
                    + " to relay.conf.")
        case .rekeyed:
            return .fault(
                .expiredLink, "the link has expired: the channel \(channel) has a new secret",
                "Ask the person who made the channel for the new link.")
        case .notAdmitted:
            return .fault(
                .relayRefuses, "the owner of the channel \(channel) has not added this station, or has removed it",
                "Send the owner the line that `tenfour id` prints, and ask to be added.")
        case .refused:
            return .fault(
                .relayRefuses, "\(place) does not accept the name in the link",
                "Ask for a link with a name that it accepts, or ask its operator to add `name \(host.name)` to"
                    + " relay.conf."
            )
        case .full, .displaced, .limited, .stopping, .left:
            return .fault(
                .relayRefuses, "\(reason)", "Try again later. The relay's operator can raise its limits.")
        }
    }
}
