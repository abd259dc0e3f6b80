internal import TenfourAudioCore
internal import TenfourPackets

/// A ring of bytes with packets, oldest first. A new packet overwrites the oldest ones when the ring is full.
@safe
struct PacketStore: ~Copyable, @unchecked Sendable {
    let capacity: Int
    private(set) var count = 0

    private let base: UnsafeMutableRawPointer
    /// The positions of the oldest record and of the end, which only increase. The place of a position in the ring is its
    /// remainder by the capacity.
    private var head = 0
    private var tail = 0

    /// A packet's record, which its payload follows. A record does not wrap: if it does not fit before the end of the
    /// ring, the rest is skipped.
    private struct Header: BitwiseCopyable {
        var arrival: Int64
        var ssrc: UInt32
        var timestamp: UInt32
        var sequenceNumber: UInt16
        /// The length of the payload; `skip` if the rest of the ring is not used.
        var byteCount: UInt16
        var frameCount: UInt16
        var encoding: UInt8
        var origin: UInt8
    }

    private static let headerByteCount = MemoryLayout<Header>.size
    private static let skip = UInt16.max

    init(byteCount: Int) {
        precondition(byteCount >= 4_096, "too small for the longest packet")
        capacity = byteCount
        unsafe base = .allocate(byteCount: byteCount, alignment: 16)
        // Takes the memory now, so that the network thread does not wait for it later.
        unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    deinit { unsafe base.deallocate() }

    /// Returns a store with the same packets.
    func copy() -> PacketStore {
        var copy = PacketStore(byteCount: capacity)
        unsafe copy.base.copyMemory(from: base, byteCount: capacity)
        (copy.count, copy.head, copy.tail) = (count, head, tail)
        return copy
    }

    /// Appends a packet of at most `UInt16.max - 1` bytes, for which the oldest packets are dropped if there is no space.
    mutating func append(_ payload: Span<UInt8>, _ packet: ReceivedPacket, at arrival: Instant) {
        let needed = Self.headerByteCount + payload.count
        let rest = capacity - tail % capacity
        if rest < needed {
            makeSpace(for: rest)
            if rest >= Self.headerByteCount {
                write(
                    Header(
                        arrival: 0, ssrc: 0, timestamp: 0, sequenceNumber: 0, byteCount: Self.skip, frameCount: 0,
                        encoding: 0, origin: 0))
            }
            tail += rest
        }
        makeSpace(for: needed)
        write(
            Header(
                arrival: arrival.nanoseconds, ssrc: packet.ssrc.rawValue, timestamp: packet.timestamp.rawValue,
                sequenceNumber: packet.sequenceNumber.rawValue, byteCount: UInt16(payload.count),
                frameCount: UInt16(clamping: packet.frameCount.rawValue), encoding: packet.encoding.rawValue,
                origin: packet.origin.rawValue))
        let place = unsafe base + tail % capacity + Self.headerByteCount
        unsafe payload.withUnsafeBytes {
            guard let source = $0.baseAddress else { return }
            unsafe place.copyMemory(from: source, byteCount: $0.count)
        }
        tail += needed
        count += 1
    }

    /// Drops the packets that arrived before `instant`.
    mutating func drop(before instant: Instant) {
        while head < tail {
            if let header = header(at: head), header.byteCount != Self.skip {
                guard header.arrival < instant.nanoseconds else { return }
            }
            dropOldest()
        }
    }

    /// Passes each packet, its arrival and its payload to `body`, oldest first.
    func visit(_ body: (ReceivedPacket, Instant, Span<UInt8>) -> Void) {
        var place = head
        while place < tail {
            guard let header = header(at: place), header.byteCount != Self.skip else {
                place += capacity - place % capacity
                continue
            }
            let start = unsafe base + place % capacity + Self.headerByteCount
            let payload = unsafe Span<UInt8>(
                _unsafeStart: start.assumingMemoryBound(to: UInt8.self), count: Int(header.byteCount))
            body(
                ReceivedPacket(
                    ssrc: SSRC(header.ssrc), sequenceNumber: SequenceNumber(rawValue: header.sequenceNumber),
                    timestamp: RTPTimestamp(rawValue: header.timestamp), frameCount: FrameCount(Int(header.frameCount)),
                    encoding: AudioEncoding(rawValue: header.encoding) ?? .opus,
                    origin: PacketOrigin(rawValue: header.origin) ?? .original),
                Instant(nanoseconds: header.arrival), payload)
            place += Self.headerByteCount + Int(header.byteCount)
        }
    }

    private mutating func makeSpace(for byteCount: Int) {
        while head < tail, tail - head + byteCount > capacity { dropOldest() }
    }

    private mutating func dropOldest() {
        if let header = header(at: head), header.byteCount != Self.skip {
            head += Self.headerByteCount + Int(header.byteCount)
            count -= 1
        } else {
            head += capacity - head % capacity
        }
    }

    private func write(_ header: Header) {
        unsafe (base + tail % capacity).storeBytes(of: header, as: Header.self)
    }

    /// Returns the record at a position; nil if the rest of the ring is too short for one.
    private func header(at position: Int) -> Header? {
        guard capacity - position % capacity >= Self.headerByteCount else { return nil }
        return unsafe (base + position % capacity).loadUnaligned(as: Header.self)
    }
}
