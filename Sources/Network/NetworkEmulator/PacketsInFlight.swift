public import TenfourAudioCore

/// Datagrams under way: held until they are due, then given out in the order of their delivery times, and those due at the
/// same time in the order in which they were taken in.
///
/// Holds a fixed number at most. Room for datagrams of the usual size is made at the beginning; a longer one enlarges its
/// place once. A value: a copy taken in a test flies on by itself.
public struct PacketsInFlight<Address> {
    private var queue: Queue
    /// By the slot that a ticket names.
    private var datagrams: [[UInt8]]
    private var addresses: [Address?]

    /// For at most `capacity` datagrams (1 or more), with room for `byteCapacity` bytes each.
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

    /// How many are under way.
    public var count: Int { queue.tickets.count }

    /// When the next one is due; nil when none is under way.
    public var nextDelivery: Instant? { queue.tickets.first?.time }

    /// Takes in a copy of `datagram` for `address`, due at `time`; false, and nothing taken, where there is no room.
    public mutating func insert(_ datagram: Span<UInt8>, for address: Address, due time: Instant) -> Bool {
        guard let slot = queue.insert(due: time) else { return false }
        copy(datagram, to: &datagrams[slot])
        addresses[slot] = address
        return true
    }

    /// Gives out the next datagram that is due at `now`: appends its bytes to `bytes` and tells whom it is for and when it was
    /// due; nil where none is. `bytes` needs room for the longest datagram taken in.
    public mutating func next(
        due now: Instant, into bytes: inout OutputSpan<UInt8>
    ) -> (address: Address, due: Instant)? {
        guard let first = queue.tickets.first, first.time <= now, let address = addresses[first.slot] else {
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

/// One datagram's place in the order.
private struct Ticket {
    var time: Instant
    /// Counts all datagrams ever taken in.
    var turn: UInt64
    var slot: Int

    func isBefore(_ other: Ticket) -> Bool { time < other.time || time == other.time && turn < other.turn }
}

private struct Queue {
    /// A binary heap: each ticket comes before those at twice its index plus one and plus two.
    private(set) var tickets: [Ticket] = []
    private var freeSlots: [Int]
    private var turn: UInt64 = 0

    init(capacity: Int) {
        tickets.reserveCapacity(capacity)
        freeSlots = Array((0..<capacity).reversed())
    }

    /// Returns the slot that is now taken; nil where none is free.
    mutating func insert(due time: Instant) -> Int? {
        guard let slot = freeSlots.popLast() else { return nil }
        tickets.append(Ticket(time: time, turn: turn, slot: slot))
        turn += 1
        rise(from: tickets.count - 1)
        return slot
    }

    /// There is one.
    mutating func removeFirst() {
        freeSlots.append(tickets[0].slot)
        let last = tickets.removeLast()
        if tickets.isEmpty { return }
        tickets[0] = last
        sink()
    }

    private mutating func rise(from index: Int) {
        var index = index
        while index > 0, tickets[index].isBefore(tickets[(index - 1) / 2]) {
            tickets.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink() {
        var index = 0
        while 2 * index + 1 < tickets.count {
            let left = 2 * index + 1
            let right = left + 1
            let earlier = right < tickets.count && tickets[right].isBefore(tickets[left]) ? right : left
            guard tickets[earlier].isBefore(tickets[index]) else { return }
            tickets.swapAt(index, earlier)
            index = earlier
        }
    }
}
