internal import TenfourPackets

/// Remembers the latest 1024 packets that a key has decrypted, each by the last four bytes of its authentication tag.
///
/// It tells a packet that comes twice from another one with the same number, which only somebody who has the key can make.
/// Allocates once, for the first packet.
struct RecentPackets: Sendable {
    private var tags: [UInt32] = []

    static let count = 1_024

    /// Whether `packet`, as it has arrived, is one of those that were decrypted.
    func contains(_ packet: Span<UInt8>) -> Bool {
        !tags.isEmpty && tags[Self.place(of: packet)] == Self.tag(of: packet)
    }

    mutating func insert(_ packet: Span<UInt8>) {
        if tags.isEmpty { tags = [UInt32](repeating: 0, count: Self.count) }
        tags[Self.place(of: packet)] = Self.tag(of: packet)
    }

    private static func place(of packet: Span<UInt8>) -> Int { Int(packet.uint16(at: 2)) % count }

    /// Zero stands for no packet.
    private static func tag(of packet: Span<UInt8>) -> UInt32 { max(packet.uint32(at: packet.count - 4), 1) }
}
