package import TenfourAudioCore
package import TenfourPackets

/// Packets that wait to be decoded, in the order of their extended sequence numbers.
///
/// A ring with a slot for each of `capacity` successive sequence numbers. Insertion takes constant time in any order of
/// arrival, and the slot shows whether a packet is a duplicate. Nothing is allocated after `init`.
@usableFromInline
package struct PacketQueue: ~Copyable, Sendable {
    /// A packet without its bytes.
    @usableFromInline
    package struct Entry: BitwiseCopyable, Sendable {
        /// The extended sequence number, which does not wrap.
        package var sequence: Int64
        /// The extended timestamp, which does not wrap: the position of the packet's first frame in the talker's time.
        package var start: FrameCount
        package var frameCount: FrameCount
        /// Whether the payload carries in-band FEC of the packet before it.
        package var carriesFEC: Bool
        package var origin: PacketOrigin
        package var encoding: AudioEncoding
        var byteCount: Int

        /// The position of the packet's end in the talker's time.
        package var end: FrameCount { @_noAllocation @_noLocks get { start + frameCount } }
    }

    package enum Insertion: Equatable, Sendable { case queued, duplicate, full }

    /// The maximum length of a payload that is queued, in bytes: the space in an Ethernet frame after IPv6, UDP and RTP
    /// headers.
    package static var maximumByteCount: Int { 1_440 }

    package private(set) var count = 0
    /// The sequence number of the oldest packet; meaningless while the queue is empty.
    private var oldest: Int64 = 0
    /// The sequence number of the newest packet; meaningless while the queue is empty.
    private var newest: Int64 = 0
    private let capacity: Int
    private var entries: FixedBuffer<Entry>
    private var bytes: FixedBuffer<UInt8>

    /// Creates an empty queue for `capacity` packets, a power of two.
    package init(capacity: Int = 256) {
        precondition(capacity & (capacity - 1) == 0, "a capacity that is a power of two")
        self.capacity = capacity
        entries = FixedBuffer(repeating: .none, count: capacity)
        bytes = FixedBuffer(repeating: 0, count: capacity * Self.maximumByteCount)
    }

    /// The oldest packet.
    package var head: Entry? { @_noAllocation @_noLocks get { count > 0 ? entries[place(of: oldest)] : nil } }

    /// Copies a packet into the queue. Returns `full` if its sequence number is too far from the other packets, or if
    /// it is too long. An original replaces a copy or retransmission of itself, because a copy may have a lower
    /// quality.
    @_noAllocation @_noLocks
    package mutating func insert(
        _ payload: Span<UInt8>, _ packet: PacketInfo, sequence: Int64, start: FrameCount
    ) -> Insertion {
        guard payload.count <= Self.maximumByteCount else { return .full }
        let place = place(of: sequence)
        if count > 0 {
            guard max(newest, sequence) - min(oldest, sequence) < Int64(capacity) else { return .full }
        }
        let isHere = count > 0 && entries[place].sequence == sequence
        if isHere, !packet.origin.isOriginal || entries[place].origin.isOriginal { return .duplicate }
        oldest = count > 0 ? min(oldest, sequence) : sequence
        newest = count > 0 ? max(newest, sequence) : sequence
        entries[place] = Entry(
            sequence: sequence, start: start, frameCount: packet.frameCount, carriesFEC: packet.carriesFEC,
            origin: packet.origin, encoding: packet.encoding,
            byteCount: payload.count)
        var storage = bytes.mutableSpan
        for index in payload.indices { storage[place * Self.maximumByteCount + index] = payload[index] }
        if !isHere { count += 1 }
        return .queued
    }

    /// The bytes of a packet in the queue, or of the packet that was removed last.
    @_lifetime(borrow self) @_noAllocation @_noLocks
    package func payload(of entry: Entry) -> Span<UInt8> {
        let start = place(of: entry.sequence) * Self.maximumByteCount
        return bytes.span(in: start..<start + entry.byteCount)
    }

    /// The bytes of a packet as `payload(of:)` returns them, for a decoder. Reviewed: nothing is deallocated, though
    /// the compiler takes the end of a Span's life for a deallocation.
    @_lifetime(borrow self) @_semantics("no_performance_analysis")
    func packet(_ entry: Entry) -> EncodedPacket {
        EncodedPacket(payload(of: entry), entry.encoding, carriesFEC: entry.carriesFEC)
    }

    /// Removes the oldest packet. Its bytes stay readable until the next insertion.
    @_noAllocation @_noLocks
    package mutating func removeHead() {
        guard count > 0 else { return }
        entries[place(of: oldest)] = .none
        count -= 1
        guard count > 0 else { return }
        repeat { oldest += 1 } while entries[place(of: oldest)].sequence != oldest
    }

    @_noAllocation @_noLocks
    package mutating func removeAll() {
        for place in 0..<capacity { entries[place] = .none }
        count = 0
    }

    private func place(of sequence: Int64) -> Int { Int(truncatingIfNeeded: sequence) & (capacity - 1) }
}

extension PacketQueue.Entry {
    /// A placeholder for no packet.
    static var none: Self {
        @_noAllocation @_noLocks get {
            Self(
                sequence: .min, start: .zero, frameCount: .zero, carriesFEC: false, origin: .original, encoding: .opus,
                byteCount: 0)
        }
    }
}
