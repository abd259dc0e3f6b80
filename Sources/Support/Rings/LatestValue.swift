public import Synchronization

/// The newest of a value, from one writing thread to one reading thread; values in between are passed over.
///
/// A triple buffer: the writer fills a slot nobody sees and swaps it with the one in the middle, the reader swaps the
/// middle out when it is fresh. Neither ever waits, locks or allocates.
@frozen
public struct LatestValue<Value: BitwiseCopyable & Sendable>: ~Copyable {
    public var writer: LatestWriter<Value>
    public var reader: LatestReader<Value>

    /// Reads as `value` until another is published.
    public init(_ value: Value) {
        let buffer = TripleBuffer(value)
        writer = LatestWriter(buffer)
        reader = LatestReader(buffer)
    }
}

/// The end that publishes. One thread at a time.
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

/// The end that reads. One thread at a time.
@safe
public struct LatestReader<Value: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    let buffer: TripleBuffer<Value>
    var own = 2

    init(_ buffer: TripleBuffer<Value>) { self.buffer = buffer }

    /// The value last published; the same again when there is no newer one.
    public mutating func read() -> Value {
        if unsafe buffer.middle.pointee.load(ordering: .relaxed) & freshBit != 0 {
            own = unsafe buffer.middle.pointee.exchange(own, ordering: .acquiringAndReleasing) & ~freshBit
        }
        let place = unsafe buffer.slots + own
        return unsafe place.pointee
    }
}

/// Set in the middle's index while the reader has not seen it.
@usableFromInline var freshBit: Int { 4 }

/// Owns the memory as long as either end lives.
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
