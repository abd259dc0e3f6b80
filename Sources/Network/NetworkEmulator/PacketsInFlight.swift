public import TenfourAudioCore

/// Datagrams under way, each held until its delivery time. They are delivered in the order of these times, and in the
/// order of insertion if the times are equal.
///
/// The number of datagrams is limited. Memory for datagrams of the usual size is allocated in `init`; a longer datagram
/// enlarges its slot once. A value type, so a copy in a test is independent.
public struct PacketsInFlight<Address> {
    private var queue: Queue
    /// The bytes of the datagram in each slot.
    private var datagrams: [[UInt8]]
    /// The destination of the datagram in each slot.
    private var addresses: [Address?]

    /// Creates an empty store for at most `capacity` datagrams, 1 or more. Each slot has `byteCapacity` bytes at first.
    public init(capacity: Int, byteCapacity: Int = 1500) {
        precondition(capacity > 0, "there is room for at least one datagram")
        queue = Queue(capacity: capacity)
        datagrams = (0..<capacity).map { _ in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(byteCapacity)
            return bytes
        }
        addresses = Array(repeating: nil, count: capacity)
    }

    /// The number of datagrams under way.
    public var count: Int { queue.entries.count }

    /// The next delivery time; nil if no datagram is under way.
    public var nextDelivery: Instant? { queue.entries.first?.time }

    /// Inserts a copy of `datagram` for `address`, due at `time`. Returns false, without inserting, if the number of
    /// datagrams has reached the capacity.
    public mutating func insert(_ datagram: Span<UInt8>, for address: Address, due time: Instant) -> Bool {
        guard let slot = queue.insert(due: time) else { return false }
        copy(datagram, to: &datagrams[slot])
        addresses[slot] = address
        return true
    }

    /// Appends the next datagram that is due at `now` to `bytes`, and returns its address and delivery time; nil if no
    /// datagram is due. `bytes` needs space for the longest datagram inserted.
    public mutating func next(
        due now: Instant, into bytes: inout OutputSpan<UInt8>
    ) -> (address: Address, due: Instant)? {
        guard let first = queue.entries.first, first.time <= now, let address = addresses[first.slot] else {
            return nil
        }
        queue.removeFirst()
        for byte in datagrams[first.slot] { bytes.append(byte) }
        datagrams[first.slot].removeAll(keepingCapacity: true)
        addresses[first.slot] = nil
        return (address, first.time)
    }
}

extension PacketsInFlight: Sendable where Address: Sendable {}

private func copy(_ datagram: Span<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: datagram.count) { bytes in
        for index in datagram.indices { bytes.append(datagram[index]) }
    }
}

/// The delivery time of one datagram, and its slot.
private struct Entry {
    var time: Instant
    /// The number of datagrams inserted before this one.
    var order: UInt64
    var slot: Int

    func isBefore(_ other: Entry) -> Bool { time < other.time || time == other.time && order < other.order }
}

private struct Queue {
    /// A binary heap by delivery time: the entry at index n is due no later than those at 2n + 1 and 2n + 2.
    private(set) var entries: [Entry] = []
    private var freeSlots: [Int]
    private var order: UInt64 = 0

    init(capacity: Int) {
        entries.reserveCapacity(capacity)
        freeSlots = Array((0..<capacity).reversed())
    }

    /// Inserts an entry and returns its slot; nil if no slot is free.
    mutating func insert(due time: Instant) -> Int? {
        guard let slot = freeSlots.popLast() else { return nil }
        entries.append(Entry(time: time, order: order, slot: slot))
        order += 1
        siftUp(from: entries.count - 1)
        return slot
    }

    /// Removes the entry with the earliest delivery time. The queue must not be empty.
    mutating func removeFirst() {
        freeSlots.append(entries[0].slot)
        let last = entries.removeLast()
        if entries.isEmpty { return }
        entries[0] = last
        siftDown()
    }

    private mutating func siftUp(from index: Int) {
        var index = index
        while index > 0, entries[index].isBefore(entries[(index - 1) / 2]) {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func siftDown() {
        var index = 0
        while 2 * index + 1 < entries.count {
            let left = 2 * index + 1
            let right = left + 1
            let earlier = right < entries.count && entries[right].isBefore(entries[left]) ? right : left
            guard entries[earlier].isBefore(entries[index]) else { return }
            entries.swapAt(index, earlier)
            index = earlier
        }
    }
}
