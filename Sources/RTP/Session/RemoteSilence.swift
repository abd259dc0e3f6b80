internal import TenfourAudioCore
internal import TenfourPackets

/// Knows which configured remotes we do not hear: nothing has come from their addresses for longer than any interval of
/// reports. They may not reach us, or receive nothing of ours and wait for us (Protocol/02-rtcp.md, "Brief reports").
struct RemoteSilence: Sendable {
    /// The time of the last datagram from each address of a remote, and of the beginning for none.
    private var last: [(address: IPAddress, at: Instant)] = []

    /// The time without a datagram after which a remote is not heard: the longest regular interval of reports is 6.16 s.
    static let timeout = Duration.seconds(7)

    /// Records a datagram from the address of a configured remote.
    mutating func datagramArrived(from address: IPAddress, at now: Instant) {
        if let index = last.firstIndex(where: { $0.address == address }) {
            last[index].at = now
        } else {
            last.append((address, now))
        }
    }

    /// Forgets what has come from other addresses than those of `remotes`.
    mutating func keep(_ remotes: [Endpoint]) {
        last.removeAll { heard in !remotes.contains { $0.address == heard.address } }
    }

    /// The time since which a remote is not heard, `begin` for one that never was: it may be later than now, if it will not
    /// be heard then. Nil without remotes.
    func begin(_ remotes: [Endpoint], since begin: Instant) -> Instant? {
        remotes.lazy.map { remote in last.first { $0.address == remote.address }.map { $0.at + Self.timeout } ?? begin }
            .min()
    }
}
