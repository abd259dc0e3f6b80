public import Synchronization

/// A bounded ring between exactly one producing and one consuming thread. Neither ever waits, locks or allocates.
///
/// Each end is a value that cannot be copied, so that one producer and one consumer is not a rule but a type: take the
/// ends out and give each to the thread that will own it.
@frozen
public struct RingBuffer<Slot: BitwiseCopyable & Sendable>: ~Copyable {
    public var producer: RingBufferProducer<Slot>
    public var consumer: RingBufferConsumer<Slot>

    /// A ring of `capacity` slots (rounded up to a power of two), each holding `filler` until it is used.
    public init(capacity: Int, filler: Slot) {
        let ring = RingStorage(capacity: capacity, filler: filler)
        producer = RingBufferProducer(ring)
        consumer = RingBufferConsumer(ring)
    }
}

/// The end that puts in. One thread at a time.
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

    /// Copies `slot` in behind the others. False when the ring is full: the slot is left out, and the producer, who
    /// can afford to think, counts it.
    @inlinable
    public func push(_ slot: Slot) -> Bool {
        let end = unsafe counts.pointee.tail.load(ordering: .relaxed)
        guard unsafe end &- counts.pointee.head.load(ordering: .acquiring) <= mask else { return false }
        let place = unsafe slots + (end & mask)
        unsafe place.pointee = slot
        unsafe counts.pointee.tail.store(end &+ 1, ordering: .releasing)
        return true
    }

    /// As above, but `fill` writes the slot in its place: a large one is not copied. It finds there what was put in long ago.
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

/// The end that takes out. One thread at a time.
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

    /// Copies the oldest slot out, in the order they were put in. False when the ring is empty.
    @inlinable
    public func pop(into slot: inout Slot) -> Bool {
        let start = unsafe counts.pointee.head.load(ordering: .relaxed)
        guard unsafe start != counts.pointee.tail.load(ordering: .acquiring) else { return false }
        let place = unsafe slots + (start & mask)
        unsafe slot = place.pointee
        unsafe counts.pointee.head.store(start &+ 1, ordering: .releasing)
        return true
    }

    /// As above, but `take` reads the slot in its place: a large one is not copied.
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

/// Head counts what was taken, tail what was put in; both run on for ever and wrap.
///
/// Each side reads its own count relaxed, since nobody else writes it; the other's count acquiring, which makes the
/// slot behind it visible (or free); and publishes its own releasing, which makes its work on the slot visible first.
@usableFromInline
struct Counts: ~Copyable {
    @usableFromInline let head = Atomic<Int>(0)
    /// Keeps the two counts on cache lines of their own.
    let padding = InlineArray<15, Int>(repeating: 0)
    @usableFromInline let tail = Atomic<Int>(0)
}

/// Owns the memory as long as either end lives. The ends reach it by pointer, since a class would be retained on use.
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
