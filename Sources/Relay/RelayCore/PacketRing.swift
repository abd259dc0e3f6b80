internal import TenfourAudioCore
internal import TenfourPackets

/// A buffer of a talker's packets of the last half second, for retransmission. It allocates only in `init`.
struct PacketRing: Sendable {
    private var bytes: [UInt8]
    private var entries: [Entry]
    /// The number of bytes written since the buffer was created, including skipped bytes. Modulo the size of `bytes`,
    /// this number is the next write position.
    private var position = 0

    private struct Entry: Sendable {
        var position = -1
        var byteCount: Int32 = 0
        var sequenceNumber = SequenceNumber(rawValue: 0)
        var arrival = Instant.start
    }

    /// The age after which a packet is not retransmitted, because no listener waits for it any more.
    static let memory = Duration.milliseconds(500)

    /// Allocates room for one second of packets at the talker's rate limits: 32…1024 packets (rounded up to a power of
    /// two) and 8192…131 072 bytes.
    init(_ limits: RelayLimits) {
        let count = min(max(limits.talkerPacketsPerSecond, 32), 1_024)
        entries = [Entry](repeating: Entry(), count: 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount))
        let byteCount = min(max(limits.talkerBitsPerSecond / 8, 8_192), 131_072)
        bytes = [UInt8](repeating: 0, count: byteCount)
    }

    /// The position of a stored packet in the buffer, and its arrival time.
    struct Kept {
        var range: Range<Int>
        var arrival: Instant
    }

    /// Stores a packet. Ignores a duplicate of a stored packet.
    mutating func insert(_ datagram: Span<UInt8>, _ number: SequenceNumber, at now: Instant) {
        guard datagram.count <= bytes.count, packet(number, at: now) == nil else { return }
        let room = bytes.count - position % bytes.count
        if room < datagram.count { position += room }
        let start = position % bytes.count
        for index in datagram.indices { bytes[start + index] = datagram[index] }
        entries[place(number)] = Entry(
            position: position, byteCount: Int32(datagram.count), sequenceNumber: number, arrival: now)
        position += datagram.count
    }

    /// Finds the packet with a sequence number. Returns nil if the packet never arrived, was overwritten, or is older
    /// than `memory`.
    func packet(_ number: SequenceNumber, at now: Instant) -> Kept? {
        let entry = entries[place(number)]
        guard entry.position >= 0, entry.sequenceNumber == number, position - entry.position <= bytes.count,
            now - entry.arrival <= Self.memory
        else { return nil }
        let start = entry.position % bytes.count
        return Kept(range: start..<start + Int(entry.byteCount), arrival: entry.arrival)
    }

    /// Passes the bytes of a packet that `packet` has just found to `body`.
    func withBytes(_ kept: Kept, _ body: (Span<UInt8>) -> Void) { body(bytes.span.extracting(kept.range)) }

    private func place(_ number: SequenceNumber) -> Int { Int(number.rawValue) & (entries.count - 1) }
}
