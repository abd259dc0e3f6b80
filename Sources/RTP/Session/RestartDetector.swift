internal import TenfourPackets

/// Detects that a station was restarted: a participant with the same CNAME at the same IP address has appeared under
/// another SSRC. The earlier one is superseded, and is removed after a second of silence.
///
/// A superseded participant that is heard again after its removal has not been restarted: two participants share a
/// CNAME. It is never superseded again.
struct RestartDetector: Sendable {
    /// The participants whose CNAME is known, in the order of their first descriptions.
    private var described: [Described] = []
    /// The SSRCs that were removed because they were superseded, the latest at the end.
    private var removed: [SSRC] = []

    private struct Described {
        var ssrc: SSRC
        var canonicalName: [UInt8]
        var address: IPAddress
        var isSuperseded = false
        /// Whether the participant was removed as superseded and has been heard again.
        var hasReturned = false
    }

    /// The time of silence after which a superseded participant is removed.
    static let timeout = Duration.seconds(1)
    /// The maximum number of participants that are compared. Further ones are ignored.
    private static let maximumCount = 128
    private static let maximumRemovedCount = 16

    /// Records the CNAME of a participant. Returns the participants that it supersedes for the first time.
    mutating func insert(_ ssrc: SSRC, _ canonicalName: [UInt8], at address: IPAddress) -> [SSRC] {
        guard !canonicalName.isEmpty, !address.isUnspecified, described.count < Self.maximumCount,
            !described.contains(where: { $0.ssrc == ssrc })
        else { return [] }
        var superseded: [SSRC] = []
        for index in described.indices {
            let other = described[index]
            guard other.canonicalName == canonicalName, other.address == address, !other.isSuperseded,
                !other.hasReturned
            else { continue }
            described[index].isSuperseded = true
            superseded.append(other.ssrc)
        }
        described.append(
            Described(
                ssrc: ssrc, canonicalName: canonicalName, address: address, hasReturned: removed.contains(ssrc)))
        return superseded
    }

    func isSuperseded(_ ssrc: SSRC) -> Bool { described.contains { $0.ssrc == ssrc && $0.isSuperseded } }

    /// Forgets a participant that was removed.
    mutating func remove(_ ssrc: SSRC) {
        guard let index = described.firstIndex(where: { $0.ssrc == ssrc }) else { return }
        if described.remove(at: index).isSuperseded {
            if removed.count == Self.maximumRemovedCount { removed.removeFirst() }
            removed.append(ssrc)
        }
    }
}
