public import Synchronization

/// A bounded ring buffer between exactly one producing and one consuming thread. Neither waits, locks or allocates.
///
/// Each end is a noncopyable value, so the compiler ensures that there is one producer and one consumer: take the ends
/// out and give each to the thread that will own it.
@frozen
public struct RingBuffer<Slot: BitwiseCopyable & Sendable>: ~Copyable {
    public var producer: RingBufferProducer<Slot>
    public var consumer: RingBufferConsumer<Slot>

    /// Creates a ring of `capacity` slots (rounded up to a power of two), each of which holds `filler` until it is
    /// used.
    public init(capacity: Int, filler: Slot) {
        let ring = RingStorage(capacity: capacity, filler: filler)
        producer = RingBufferProducer(ring)
        consumer = RingBufferConsumer(ring)
    }
}

/// The producing end. For one thread at a time.
@safe
public struct RingBufferProducer<Slot: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let slots: UnsafeMutablePointer<Slot>
    @usableFromInline let counts: UnsafeMutablePointer<Counts>
    @usableFromInline let mask: Int
    let ring: RingStorage<Slot>

    init(_ ring: RingStorage<Slot>) {
        unsafe slots = ring.slots
        unsafe counts = ring.counts
        mask = ring.mask
        self.ring = ring
    }

    /// Appends a copy of `slot`. Returns false if the ring is full; the slot is then dropped, and the caller should
    /// count it.
    @inlinable
    public func push(_ slot: Slot) -> Bool {
        let end = unsafe counts.pointee.tail.load(ordering: .relaxed)
        guard unsafe end &- counts.pointee.head.load(ordering: .acquiring) <= mask else { return false }
        let place = unsafe slots + (end & mask)
        unsafe place.pointee = slot
        unsafe counts.pointee.tail.store(end &+ 1, ordering: .releasing)
        return true
    }

    /// Appends a slot that `fill` writes in place, so that a large slot is not copied; at first the slot contains an
    /// older value. Returns false if the ring is full.
    @inlinable
    public func push(_ fill: (inout Slot) -> Void) -> Bool {
        let end = unsafe counts.pointee.tail.load(ordering: .relaxed)
        guard unsafe end &- counts.pointee.head.load(ordering: .acquiring) <= mask else { return false }
        let place = unsafe slots + (end & mask)
        unsafe fill(&place.pointee)
        unsafe counts.pointee.tail.store(end &+ 1, ordering: .releasing)
        return true
    }
}

/// The consuming end. For one thread at a time.
@safe
public struct RingBufferConsumer<Slot: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let slots: UnsafeMutablePointer<Slot>
    @usableFromInline let counts: UnsafeMutablePointer<Counts>
    @usableFromInline let mask: Int
    let ring: RingStorage<Slot>

    init(_ ring: RingStorage<Slot>) {
        unsafe slots = ring.slots
        unsafe counts = ring.counts
        mask = ring.mask
        self.ring = ring
    }

    /// Whether at least half of the slots are filled.
    @inlinable
    public var isHalfFull: Bool {
        let end = unsafe counts.pointee.tail.load(ordering: .acquiring)
        let filled = unsafe end &- counts.pointee.head.load(ordering: .relaxed)
        return filled * 2 > mask
    }

    /// Removes the oldest slot and copies it to `slot`. Returns false if the ring is empty.
    @inlinable
    public func pop(into slot: inout Slot) -> Bool {
        let start = unsafe counts.pointee.head.load(ordering: .relaxed)
        guard unsafe start != counts.pointee.tail.load(ordering: .acquiring) else { return false }
        let place = unsafe slots + (start & mask)
        unsafe slot = place.pointee
        unsafe counts.pointee.head.store(start &+ 1, ordering: .releasing)
        return true
    }

    /// Removes the oldest slot, which `take` reads in place, so that a large slot is not copied. Returns false if the
    /// ring is empty.
    @inlinable
    public func pop(_ take: (borrowing Slot) -> Void) -> Bool {
        let start = unsafe counts.pointee.head.load(ordering: .relaxed)
        guard unsafe start != counts.pointee.tail.load(ordering: .acquiring) else { return false }
        let place = unsafe slots + (start & mask)
        unsafe take(place.pointee)
        unsafe counts.pointee.head.store(start &+ 1, ordering: .releasing)
        return true
    }
}

/// The counters of the ring: `head` counts the removed slots, `tail` the appended slots. Both increase for ever and
/// wrap.
///
/// Each end reads its own counter relaxed, since no other thread writes it. It reads the other counter acquiring, which
/// makes the slot behind that counter visible (or free). It stores its own counter releasing, so that its work on the
/// slot is visible before the new count.
@usableFromInline
struct Counts: ~Copyable {
    @usableFromInline let head = Atomic<Int>(0)
    /// Keeps the two counters on separate cache lines.
    let padding = InlineArray<15, Int>(repeating: 0)
    @usableFromInline let tail = Atomic<Int>(0)
}

/// Owns the memory as long as either end exists. The ends access it by pointer, since a class reference would be
/// retained at each use.
@safe
final class RingStorage<Slot: BitwiseCopyable & Sendable>: @unchecked Sendable {
    let slots: UnsafeMutablePointer<Slot>
    let counts: UnsafeMutablePointer<Counts>
    let mask: Int

    init(capacity: Int, filler: Slot) {
        var size = 1
        while size < capacity { size *= 2 }
        mask = size - 1
        unsafe slots = .allocate(capacity: size)
        unsafe slots.initialize(repeating: filler, count: size)
        unsafe counts = .allocate(capacity: 1)
        unsafe counts.initialize(to: Counts())
    }

    deinit {
        unsafe slots.deallocate()
        unsafe counts.deinitialize(count: 1)
        unsafe counts.deallocate()
    }
}
