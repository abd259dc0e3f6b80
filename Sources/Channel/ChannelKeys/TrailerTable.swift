private import CSodium

/// The keys and counters with which one thread of a relay writes trailers. Each session has a small number as its index, and
/// takes 24 bytes.
///
/// Keys stay at one address in locked memory, are never copied, and are zeroed when their session is removed.
@safe
public struct TrailerTable: ~Copyable, @unchecked Sendable {
    /// The number of sessions that have trailers.
    public private(set) var count = 0

    private var chunks: [UnsafeMutablePointer<Slot>?] = unsafe []
    private let lane: TrailerLane

    private struct Slot {
        var key = InlineArray<16, UInt8>(repeating: 0)
        /// The counter of the next datagram.
        var counter: UInt32 = 0
        var isUsed = false
    }

    /// The number of sessions in one page.
    private static let chunkCount = 170
    private static let chunkByteCount = chunkCount * MemoryLayout<Slot>.stride

    public init(_ lane: TrailerLane) { self.lane = lane }

    deinit {
        for index in unsafe chunks.indices {
            if let chunk = unsafe chunks[index] { unsafe SecretMemory.freePages(chunk, Self.chunkByteCount) }
        }
    }

    /// Stores the key of a session at `number`, in place of an earlier session.
    public mutating func insert(_ key: TrailerKey, at number: Int) {
        remove(number)
        let place = number / Self.chunkCount
        while unsafe chunks.count <= place { unsafe chunks.append(nil) }
        if unsafe chunks[place] == nil {
            let chunk = unsafe SecretMemory.allocatePages(Self.chunkByteCount)
                .bindMemory(to: Slot.self, capacity: Self.chunkCount)
            unsafe chunk.initialize(repeating: Slot(), count: Self.chunkCount)
            unsafe chunks[place] = chunk
        }
        guard let slot = unsafe slot(number) else { return }
        key.bytes.withBytes { key in for index in 0..<16 { unsafe slot.pointee.key[index] = key[index] } }
        unsafe slot.pointee.counter = lane.start
        unsafe slot.pointee.isUsed = true
        count += 1
    }

    /// Removes the session at `number`, and zeroes its key.
    public mutating func remove(_ number: Int) {
        guard let slot = unsafe slot(number), unsafe slot.pointee.isUsed else { return }
        unsafe sodium_memzero(slot, MemoryLayout<Slot>.stride)
        unsafe slot.initialize(to: Slot())
        count -= 1
    }

    /// Whether the datagrams for the session at `number` end in a trailer.
    public func contains(_ number: Int) -> Bool { unsafe slot(number)?.pointee.isUsed ?? false }

    /// A copy of the key of the session at `number`; nil if it has none.
    public func key(_ number: Int) -> TrailerKey? {
        guard let slot = unsafe slot(number), unsafe slot.pointee.isUsed else { return nil }
        return unsafe TrailerKey(SecretBytes(copying: slot.pointee.key.span))
    }

    /// Appends the next trailer of the session at `number`, for a packet with this hash. Does nothing if the session has
    /// no trailers. The counter stays the same until `used`.
    public func write(for hash: PacketHash, to number: Int, into datagram: inout OutputSpan<UInt8>) {
        guard let slot = unsafe slot(number), unsafe slot.pointee.isUsed else { return }
        let counter = unsafe slot.pointee.counter
        datagram.append(number: counter)
        let tag = unsafe trailerTag(of: hash, counter: counter, key: slot.pointee.key.span)
        datagram.append(number: tag)
    }

    /// Counts a datagram with the trailer that `write` has written. After the last counter of the lane the counter stays, and
    /// the member accepts nothing more of it: it has joined anew long before.
    public mutating func used(_ number: Int) {
        guard let slot = unsafe slot(number), unsafe slot.pointee.isUsed, unsafe slot.pointee.counter < lane.end else {
            return
        }
        unsafe slot.pointee.counter += 1
    }

    private func slot(_ number: Int) -> UnsafeMutablePointer<Slot>? {
        let place = number / Self.chunkCount
        guard unsafe place < chunks.count, let chunk = unsafe chunks[place] else { return nil }
        return unsafe chunk + number % Self.chunkCount
    }
}
