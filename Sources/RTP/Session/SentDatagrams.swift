package import TenfourAudioCore
package import TenfourPackets

/// The media datagrams that we sent in the last 1.5 seconds, plain or encrypted, kept for retransmission. Allocates
/// once, with the first datagram.
package struct SentDatagrams: Sendable {
    private var bytes: [UInt8] = []
    private var entries: [Entry?] = []
    /// The position of the next datagram in all bytes written so far. Modulo the capacity, it is the index in `bytes`.
    private var position = 0

    package struct Entry: Sendable {
        var sequenceNumber: SequenceNumber
        var position: Int
        package var byteCount: Int
        var sentAt: Instant
        var retransmittedCount = 0
        var lastRetransmission: Instant?
        /// The index of the remote that the last retransmission went to.
        var lastRemote = 0
    }

    /// The capacity in packets, a power of two: enough for 1.5 seconds of the shortest packets.
    private static let count = 1_024
    /// The capacity in bytes, a power of two: enough for 1.5 seconds of the highest bit rate.
    private static let byteCount = 131_072
    /// The maximum age of a datagram that is sent again. No receiver waits longer.
    package static let memory = Duration.milliseconds(1_500)

    package init() {}

    package mutating func keep(_ sequenceNumber: SequenceNumber, _ datagram: Span<UInt8>, at now: Instant) {
        if bytes.isEmpty {
            bytes = [UInt8](repeating: 0, count: Self.byteCount)
            entries = [Entry?](repeating: nil, count: Self.count)
        }
        let room = Self.byteCount - position % Self.byteCount
        if room < datagram.count { position += room }
        let start = position % Self.byteCount
        for index in datagram.indices { bytes[start + index] = datagram[index] }
        entries[place(of: sequenceNumber)] = Entry(
            sequenceNumber: sequenceNumber, position: position, byteCount: datagram.count, sentAt: now)
        position += datagram.count
    }

    /// Returns the kept packet with this sequence number; nil if it was never sent or is no longer kept.
    package func entry(_ sequenceNumber: SequenceNumber, at now: Instant) -> Entry? {
        guard !entries.isEmpty, let entry = entries[place(of: sequenceNumber)], entry.sequenceNumber == sequenceNumber,
            position - entry.position <= Self.byteCount, now - entry.sentAt <= Self.memory
        else { return nil }
        return entry
    }

    func datagram(_ entry: Entry) -> [UInt8] { [UInt8](capacity: entry.byteCount) { write(entry, into: &$0) } }

    /// Appends the datagram of `entry`, which `entry(_:at:)` has just returned, to `datagram`.
    package func write(_ entry: Entry, into datagram: inout OutputSpan<UInt8>) {
        let start = entry.position % Self.byteCount
        for index in start..<start + entry.byteCount { datagram.append(bytes[index]) }
    }

    mutating func recordRetransmission(of sequenceNumber: SequenceNumber, to remote: Int, at now: Instant) {
        let place = place(of: sequenceNumber)
        entries[place]?.retransmittedCount += 1
        entries[place]?.lastRetransmission = now
        entries[place]?.lastRemote = remote
    }

    package mutating func removeAll() {
        for index in entries.indices { entries[index] = nil }
    }

    private func place(of sequenceNumber: SequenceNumber) -> Int { Int(sequenceNumber.rawValue) % Self.count }
}
