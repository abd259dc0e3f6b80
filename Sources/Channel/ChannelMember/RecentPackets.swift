internal import TenfourPackets

/// Remembers the latest 1024 packets that a key has decrypted, each by a keyed hash of all its bytes.
///
/// It tells a packet that comes twice from another one with the same number, which only somebody who has the key can make.
/// Allocates once, for the first packet.
struct RecentPackets: Sendable {
    private var hashes: [UInt64] = []

    static let count = 1_024

    /// A packet as it has arrived, in short.
    struct Digest {
        fileprivate let place: Int
        /// Zero stands for no packet.
        fileprivate let hash: UInt64

        /// Swift draws the key of the hash anew in each process. So nobody can make another packet with the same digest, not even
        /// somebody who can choose its authentication tag.
        init(of packet: Span<UInt8>) {
            place = Int(packet.uint16(at: 2)) % RecentPackets.count
            var hasher = Hasher()
            let wordCount = packet.count / 4
            for word in 0..<wordCount { hasher.combine(packet.uint32(at: 4 * word)) }
            for index in 4 * wordCount..<packet.count { hasher.combine(packet[index]) }
            hash = max(UInt64(UInt(bitPattern: hasher.finalize())), 1)
        }
    }

    /// Whether the packet is one of those that were decrypted.
    func contains(_ packet: Digest) -> Bool { !hashes.isEmpty && hashes[packet.place] == packet.hash }

    mutating func insert(_ packet: Digest) {
        if hashes.isEmpty { hashes = [UInt64](repeating: 0, count: Self.count) }
        hashes[packet.place] = packet.hash
    }
}
