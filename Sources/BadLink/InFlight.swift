public import Sound

/// Datagrams under way: held until they are due, then given out in the order of their delivery times, and those due at the same
/// time in the order in which they were taken in.
///
/// Holds a fixed number at most. Room for datagrams of the usual size is made at the beginning; a longer one enlarges its
/// place once. A value: a copy taken in a test flies on by itself.
public struct InFlight<Address> {
    /// How many are under way.
    public var count: Int { queue.count }
    /// When the next one is due; nil when none is under way.
    public var nextDelivery: Instant? { queue.first?.time }

    private struct Ticket {
        var time: Instant
        /// Counts all datagrams ever taken in.
        var turn: UInt64
        var slot: Int

        func isBefore(_ other: Ticket) -> Bool { time < other.time || time == other.time && turn < other.turn }
    }

    /// A binary heap: each ticket comes before those at twice its index plus one and plus two.
    private var queue: [Ticket] = []
    private var slots: [(bytes: [UInt8], address: Address?)] = []
    private var freeSlots: [Int] = []
    private var turn: UInt64 = 0

    /// For at most `capacity` datagrams (1 or more), with room for `byteCapacity` bytes each.
    public init(capacity: Int, byteCapacity: Int = 1500) {
        precondition(capacity > 0, "there is room for at least one datagram")
        queue.reserveCapacity(capacity)
        freeSlots = Array((0..<capacity).reversed())
        slots.reserveCapacity(capacity)
        for _ in 0..<capacity {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(byteCapacity)
            slots.append((bytes, nil))
        }
    }

    /// Takes in a copy of `datagram` for `address`, due at `time`; false, and nothing taken, where there is no room.
    public mutating func insert(_ datagram: Span<UInt8>, for address: Address, due time: Instant) -> Bool {
        guard let slot = freeSlots.popLast() else { return false }
        slots[slot].bytes.append(addingCapacity: datagram.count) { bytes in
            for index in datagram.indices { bytes.append(datagram[index]) }
        }
        slots[slot].address = address
        queue.append(Ticket(time: time, turn: turn, slot: slot))
        turn += 1
        rise(from: queue.count - 1)
        return true
    }

    /// Gives out the next datagram that is due at `now`: appends its bytes to `bytes` and tells whom it is for and when it was
    /// due; nil where none is. `bytes` needs room for the longest datagram taken in.
    public mutating func next(due now: Instant, into bytes: inout OutputSpan<UInt8>) -> (
        address: Address, due: Instant
    )? {
        guard let first = queue.first, first.time <= now, let address = slots[first.slot].address else { return nil }
        for byte in slots[first.slot].bytes { bytes.append(byte) }
        slots[first.slot].bytes.removeAll(keepingCapacity: true)
        slots[first.slot].address = nil
        freeSlots.append(first.slot)
        let last = queue.removeLast()
        if !queue.isEmpty {
            queue[0] = last
            sink()
        }
        return (address, first.time)
    }

    private mutating func rise(from index: Int) {
        var index = index
        while index > 0, queue[index].isBefore(queue[(index - 1) / 2]) {
            queue.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink() {
        var index = 0
        while true {
            var earliest = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < queue.count && queue[child].isBefore(queue[earliest]) {
                earliest = child
            }
            guard earliest != index else { return }
            queue.swapAt(index, earliest)
            index = earliest
        }
    }
}

extension InFlight: Sendable where Address: Sendable {}
