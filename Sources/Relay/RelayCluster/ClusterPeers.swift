internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourRelayCore

/// Another relay of the cluster, or a candidate that has not shown yet that it is present.
struct ClusterPeer: Sendable {
    let boot: BootID
    var opener: MessageOpener
    /// The relay's last nonce.
    var nonce: UInt128 = 0
    /// The nonce of the relay that our last PRESENCE repeated; nil before that. Without the present one, the relay may not know
    /// that we are present, and ignores all else.
    var repeatedNonce: UInt128?
    /// The time of its last message that was accepted.
    var heardAt: Instant
    /// Whether the relay has repeated our own nonce: it runs now.
    var isPresent = false
    /// Tells which of its messages are recent, and so are no replays.
    var age = MessageAge()
    /// The tags of the channels in which it has members.
    var tags: Set<UInt64> = []
    /// The counter of its last PRESENCE.
    var presenceCounter: UInt64 = 0
    var presenceAt = Instant.start
    /// The time that a message takes there and back; nil if it is not known.
    var roundTrip: Duration?
    /// The subject on which it hears this relay alone.
    let subject: String
    /// Limits the retransmissions to it.
    var retransmissions = CellRateLimit()
    /// The counter of its last state of each channel.
    var stateCounters: [UInt64: UInt64] = [:]
}

/// The other relays of the cluster.
struct ClusterPeers: Sendable {
    private(set) var peers: [BootID: ClusterPeer] = [:]

    /// The time without a message after which a relay is gone.
    static let patience = Duration.milliseconds(1_500)

    subscript(boot: BootID) -> ClusterPeer? {
        _read { yield peers[boot] }
        _modify { yield &peers[boot] }
    }

    var presentCount: Int { peers.values.count { $0.isPresent } }

    func isPresent(_ boot: BootID) -> Bool { peers[boot]?.isPresent ?? false }

    /// Adds a candidate; the candidate that was heard longest ago makes room for it. Returns false if there is no room.
    mutating func insert(_ peer: ClusterPeer) -> Bool {
        if peers.count >= RelayPresence.mostHeard {
            let oldest = peers.values.filter { !$0.isPresent }.min { $0.heardAt < $1.heardAt }
            guard let oldest else { return false }
            peers[oldest.boot] = nil
        }
        peers[peer.boot] = peer
        return true
    }

    /// Takes note of a PRESENCE, which repeats the nonces of all. Returns the tags of the present relays whose nonces it is the
    /// first to repeat.
    mutating func repeatNonces() -> Set<UInt64> {
        var tags: Set<UInt64> = []
        for (boot, peer) in peers where peer.repeatedNonce != peer.nonce {
            peers[boot]?.repeatedNonce = peer.nonce
            if peer.isPresent { tags.formUnion(peer.tags) }
        }
        return tags
    }

    mutating func forgetRepeatedNonces() { for boot in peers.keys { peers[boot]?.repeatedNonce = nil } }

    mutating func forgetAges() { for boot in peers.keys { peers[boot]?.age.forget() } }

    mutating func remove(_ boot: BootID) -> ClusterPeer? { peers.removeValue(forKey: boot) }

    /// Removes the relays that have been silent for `patience`, and returns them.
    mutating func removeSilent(at now: Instant) -> [ClusterPeer] {
        let silent = peers.values.filter { now - $0.heardAt >= Self.patience }.sorted { $0.boot < $1.boot }
        for peer in silent { peers[peer.boot] = nil }
        return silent
    }

    /// The time at which the first relay is gone, unless it is heard before.
    var deadline: Instant? { peers.values.lazy.map { $0.heardAt + Self.patience }.min() }

    /// The relays that are present and have members of the channel with this tag.
    func withMembers(of tag: UInt64) -> Set<BootID> {
        Set(peers.values.lazy.filter { $0.isPresent && $0.tags.contains(tag) }.map(\.boot))
    }

    /// The relays heard, as PRESENCE lists them.
    func heard(at now: Instant) -> [RelayPresence.Heard] {
        peers.values.sorted { $0.boot < $1.boot }.map {
            let age = (now - $0.presenceAt) / .microseconds(1)
            return RelayPresence.Heard(
                boot: $0.boot, nonce: $0.nonce, counter: $0.presenceCounter, age: UInt32(min(age, Double(Int32.max))))
        }
    }

    /// The longest round trip to a relay that is present; nil if there is none.
    var longestRoundTrip: Duration? { peers.values.lazy.filter(\.isPresent).compactMap(\.roundTrip).max() }
}
