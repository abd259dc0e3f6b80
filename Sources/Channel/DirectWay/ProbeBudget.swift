internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The bounds on what is sent to addresses that have not proved themselves: by member, over all its candidates and sessions,
/// and by host, over all members. They hold for ten minutes.
struct ProbeBudget: Sendable {
    enum Purpose: Hashable, Sendable {
        /// A probe of the schedule. It leaves room for an echo and a triggered probe.
        case scheduledProbe
        /// A probe to an address from which a member's probe has come.
        case triggeredProbe
        case echo
    }

    private struct Entry {
        var at: Instant
        var index: UInt16
        var address: PeerAddress
        var isEcho: Bool
        /// Whether the address has answered since.
        var isAnswered = false
    }

    private var entries: [Entry] = []

    static let window: Duration = .seconds(600)
    static let maximumProbeCount = 20
    static let maximumEchoCount = 20
    static let maximumHostByteCount = 200
    /// The number of members that are remembered; to further ones nothing is sent.
    static let maximumMemberCount = 64
    private static let triggeredProbeCount = 4

    /// Takes the room for one datagram. Returns false if a bound is reached.
    mutating func spend(_ purpose: Purpose, to address: PeerAddress, of index: UInt16, at now: Instant) -> Bool {
        entries.removeAll { now - $0.at >= Self.window }
        let isEcho = purpose == .echo
        let sent = entries.count { $0.index == index && $0.isEcho == isEcho }
        let host = address.host
        let hostByteCount =
            DirectProbe.byteCount * entries.count { !$0.isAnswered && $0.address.host == host }
        let (most, mostBytes) =
            switch purpose {
            case .scheduledProbe:
                (
                    Self.maximumProbeCount - Self.triggeredProbeCount,
                    Self.maximumHostByteCount - 2 * DirectProbe.byteCount
                )
            case .triggeredProbe: (Self.maximumProbeCount, Self.maximumHostByteCount)
            case .echo: (Self.maximumEchoCount, Self.maximumHostByteCount)
            }
        guard sent < most, hostByteCount + DirectProbe.byteCount <= mostBytes else { return false }
        if !entries.contains(where: { $0.index == index }) {
            guard Set(entries.map(\.index)).count < Self.maximumMemberCount else { return false }
        }
        entries.append(Entry(at: now, index: index, address: address, isEcho: isEcho))
        return true
    }

    /// A member has answered a probe from this address: what was sent there does not count by host any more.
    mutating func answered(_ address: PeerAddress) {
        for place in entries.indices where entries[place].address == address { entries[place].isAnswered = true }
    }
}
