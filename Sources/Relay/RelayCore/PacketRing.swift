internal import TenfourAudioCore
internal import TenfourPackets

/// The last half second of a talker's packets, to be sent again as they were. Allocates at `init` only.
struct PacketRing: Sendable {
    private var bytes: [UInt8]
    private var entries: [Entry]
    /// Where the next goes, counted on and on; `bytes` is walked round and round.
    private var position = 0

    private struct Entry: Sendable {
        var position = -1
        var byteCount: Int32 = 0
        var sequenceNumber = SequenceNumber(rawValue: 0)
        var arrival = Instant.start
    }

    /// Older than this nobody waits for.
    static let memory = Duration.milliseconds(500)

    /// Room for a second of all that a talker may send, within bounds.
    init(_ limits: RelayLimits) {
        let count = min(max(limits.talkerPacketsPerSecond, 32), 1_024)
        entries = [Entry](repeating: Entry(), count: 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount))
        let byteCount = min(max(limits.talkerBitsPerSecond / 8, 8_192), 131_072)
        bytes = [UInt8](repeating: 0, count: byteCount)
    }

    /// A packet that is there.
    struct Kept {
        var range: Range<Int>
        var arrival: Instant
    }

    /// One that came again takes no more room.
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

    /// Where the packet of that number lies; nil where it never came, or is forgotten.
    func packet(_ number: SequenceNumber, at now: Instant) -> Kept? {
        let entry = entries[place(number)]
        guard entry.position >= 0, entry.sequenceNumber == number, position - entry.position <= bytes.count,
            now - entry.arrival <= Self.memory
        else { return nil }
        let start = entry.position % bytes.count
        return Kept(range: start..<start + Int(entry.byteCount), arrival: entry.arrival)
    }

    /// Lends the bytes of one that `packet` has found.
    func withBytes(_ kept: Kept, _ body: (Span<UInt8>) -> Void) { body(bytes.span.extracting(kept.range)) }

    private func place(_ number: SequenceNumber) -> Int { Int(number.rawValue) & (entries.count - 1) }
}
