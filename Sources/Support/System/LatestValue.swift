public import Synchronization

/// Passes the newest value from one writing thread to one reading thread; values in between are skipped.
///
/// A triple buffer: the writer fills a slot that only it uses, and exchanges this slot with the middle slot. If the
/// middle slot holds a new value, the reader exchanges its own slot with it. Neither thread waits, locks or allocates.
@frozen
public struct LatestValue<Value: BitwiseCopyable & Sendable>: ~Copyable {
    public var writer: LatestWriter<Value>
    public var reader: LatestReader<Value>

    /// Creates a buffer whose reader returns `value` until another value is published.
    public init(_ value: Value) {
        let buffer = TripleBuffer(value)
        writer = LatestWriter(buffer)
        reader = LatestReader(buffer)
    }
}

/// The writing end. For one thread at a time.
@safe
public struct LatestWriter<Value: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let slots: UnsafeMutablePointer<Value>
    @usableFromInline let middle: UnsafeMutablePointer<Atomic<Int>>
    @usableFromInline var own = 0
    let buffer: TripleBuffer<Value>

    init(_ buffer: TripleBuffer<Value>) {
        unsafe slots = buffer.slots
        unsafe middle = buffer.middle
        self.buffer = buffer
    }

    @inlinable
    public mutating func publish(_ value: Value) {
        let place = unsafe slots + own
        unsafe place.pointee = value
        own = unsafe middle.pointee.exchange(own | freshBit, ordering: .acquiringAndReleasing) & ~freshBit
    }
}

/// The reading end. For one thread at a time.
@safe
public struct LatestReader<Value: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    let buffer: TripleBuffer<Value>
    var own = 2

    init(_ buffer: TripleBuffer<Value>) { self.buffer = buffer }

    /// Returns the value published last; the same value again if no newer one was published.
    public mutating func read() -> Value {
        if unsafe buffer.middle.pointee.load(ordering: .relaxed) & freshBit != 0 {
            own = unsafe buffer.middle.pointee.exchange(own, ordering: .acquiringAndReleasing) & ~freshBit
        }
        let place = unsafe buffer.slots + own
        return unsafe place.pointee
    }
}

/// The bit in the index of the middle slot that marks a new value. It is set until the reader has taken the slot.
@usableFromInline var freshBit: Int { 4 }

/// Owns the memory as long as either end exists.
@safe
final class TripleBuffer<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
    let slots: UnsafeMutablePointer<Value>
    let middle: UnsafeMutablePointer<Atomic<Int>>

    init(_ value: Value) {
        unsafe slots = .allocate(capacity: 3)
        unsafe slots.initialize(repeating: value, count: 3)
        unsafe middle = .allocate(capacity: 1)
        unsafe middle.initialize(to: Atomic(1))
    }

    deinit {
        unsafe slots.deallocate()
        unsafe middle.deinitialize(count: 1)
        unsafe middle.deallocate()
    }
}
