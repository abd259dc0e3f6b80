import Glibc
import TenfourPackets
import TenfourRadio
import TenfourSession
import TenfourUV

/// Composes the one line for a person to whom nothing has come within ten seconds of the start: the likeliest cause, and
/// the remedy. It is for sessions that receive, outside channels: there the relay answers, or a notice says that it does
/// not.
struct NobodyHint {
    private let expected: Expected
    /// Whether the line was told, or somebody is there.
    private var isDone = false

    /// Where packets are expected from.
    private enum Expected {
        case partner(Endpoint)
        case group(IPAddress)
        case anybody
    }

    /// The time from the start until the line.
    static let delay = Duration.seconds(10)

    /// The number of datagrams of no use that say nothing about a partner: a stray one may reach any port. A partner with a
    /// closed microphone sends two to four reports in this time.
    private static let strayCount = 1

    /// The number of packets of an unnamed payload type about which there is a line of its own.
    private static let reportedCount = 50

    /// The line about packets that arrive and cannot be decrypted.
    static let otherKey = "received packets cannot be decrypted: the sender uses another key, or does not encrypt"

    /// Nil for a session that is in a channel or receives nothing.
    init?(_ configuration: RadioConfiguration) {
        if case .channel = configuration.protection { return nil }
        guard configuration.output != nil || configuration.recording != nil else { return nil }
        if let group = configuration.multicast?.group {
            expected = .group(group)
        } else if configuration.rtpSession.remotes.count == 1, let partner = configuration.rtpSession.remotes.first {
            expected = .partner(partner)
        } else {
            expected = .anybody
        }
    }

    /// Records that a line has told the cause.
    mutating func isTold() { isDone = true }

    /// Returns the line if it is due. `port` is the port that the session receives on.
    mutating func line(_ snapshot: RadioSnapshot, port: UInt16) -> String? {
        guard !isDone else { return nil }
        let received = snapshot.network.received - snapshot.discards.total - snapshot.unopenedCount
        if received > 0 || !snapshot.talkers.isEmpty || !snapshot.participants.isEmpty { isDone = true }
        guard !isDone, snapshot.elapsed >= Self.delay else { return nil }
        isDone = true
        if snapshot.unopenedCount > Self.strayCount { return Self.otherKey }
        let time = "for \(Int(Self.delay / .seconds(1))) s"
        if snapshot.discards.total > Self.strayCount, let reason = snapshot.discards.mostFrequent {
            // A line has named the payload type already, or silence waits for the sound that shows whether it is Opus.
            if reason == .unknownPayloadType, snapshot.discards[reason] >= Self.reportedCount { return nil }
            return "nothing of use has arrived at port \(port) \(time), only datagrams \(reason.words): "
                + "check what the other end sends"
        }
        switch expected {
        case .partner(let endpoint):
            return Self.failure(of: snapshot.network.lastFailure, endpoint) ?? Self.silence(of: endpoint, time)
        case .group(let group):
            return
                "nothing has arrived for \(group) \(time): probably nobody sends to it at port \(port), or this network "
                + "does not carry multicast; --interface chooses another one"
        case .anybody:
            return
                "nothing has arrived at port \(port) \(time): probably nobody sends yet, or sends to another address or "
                + "port, or a firewall here drops it; `tenfour doctor -p \(port)` examines this machine"
        }
    }

    /// Returns the line about packets that the network or this machine refuses; nil if none was refused.
    private static func failure(of failure: SocketStatistics.Failure?, _ partner: Endpoint) -> String? {
        guard let failure else { return nil }
        switch failure.code {
        case ECONNREFUSED:
            return Hearing.refusal(by: partner)
        case _ where failure.isOfNetwork:
            return "your packets do not reach \(partner): a router on the way, or a firewall there, rejects them; "
                + "`tenfour doctor \(partner)` examines the way"
        case EPERM, EACCES:
            return "your packets do not leave this machine: a firewall here forbids sending to \(partner); let UDP to "
                + "port \(partner.port) out"
        default:
            return "your packets do not leave this machine (\(failure)): check the network and the address; "
                + "`tenfour doctor \(partner)` examines both"
        }
    }

    private static func silence(of partner: Endpoint, _ time: String) -> String {
        let nothing = "nothing has arrived from \(partner) \(time)"
        // A machine without a program at the port refuses packets, unless a firewall drops them.
        return partner.address.isPrivate || partner.address.isLinkLocal || partner.address.isLoopback
            ? "\(nothing): probably a firewall there drops UDP port \(partner.port), or that machine is off; "
                + "`tenfour doctor \(partner)` examines the way"
            : "\(nothing): probably a router (NAT) or a firewall there lets nothing in; a channel with a relay needs no "
                + "open port: `tenfour channel new NAME --relay HOST`"
    }
}

extension DiscardCounts {
    /// The reason for most of the discards; nil if there were none.
    fileprivate var mostFrequent: DiscardReason? {
        DiscardReason.allCases.filter { self[$0] > 0 }.max { self[$0] < self[$1] }
    }
}
