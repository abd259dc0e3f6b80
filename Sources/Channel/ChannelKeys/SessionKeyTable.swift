private import CSodium

/// The keys, counters and replay windows of a relay's control sessions. Each session has a small number as its index,
/// and takes 224 bytes.
///
/// Keys stay at one address in locked memory, are never copied, and are zeroed when their session is removed.
@safe
public struct SessionKeyTable: ~Copyable, @unchecked Sendable {
    private var chunks: [UnsafeMutablePointer<Slot>] = unsafe []

    private struct Slot {
        var session: UInt64 = 0
        var counter: UInt64 = 0
        var window = ReplayWindow()
        var keys = InlineArray<64, UInt8>(repeating: 0)
    }

    /// The number of sessions in four pages.
    private static let chunkCount = 73
    private static let chunkByteCount = chunkCount * MemoryLayout<Slot>.stride
    private static let keysOffset = MemoryLayout<Slot>.offset(of: \.keys)!

    public init() {}

    deinit {
        for index in unsafe chunks.indices { unsafe SecretMemory.freePages(chunks[index], Self.chunkByteCount) }
    }

    /// Stores a session at `number`, and removes an earlier session at the same number.
    public mutating func insert(_ keys: SessionKeys, at number: Int) {
        while unsafe chunks.count * Self.chunkCount <= number {
            let chunk = unsafe SecretMemory.allocatePages(Self.chunkByteCount)
                .bindMemory(to: Slot.self, capacity: Self.chunkCount)
            unsafe chunk.initialize(repeating: Slot(), count: Self.chunkCount)
            unsafe chunks.append(chunk)
        }
        let slot = unsafe slot(number)
        unsafe slot.pointee.session = keys.session
        unsafe slot.pointee.counter = 0
        unsafe slot.pointee.window = ReplayWindow()
        keys.memberControl.withBytes { key in for index in 0..<32 { unsafe slot.pointee.keys[index] = key[index] } }
        keys.relayControl.withBytes { key in for index in 0..<32 { unsafe slot.pointee.keys[32 + index] = key[index] } }
    }

    /// Removes the session at `number`, and zeroes its keys. The table must contain `number`.
    public mutating func remove(_ number: Int) {
        unsafe sodium_memzero(slot(number), MemoryLayout<Slot>.stride)
        unsafe slot(number).initialize(to: Slot())
    }

    /// The id of the session at `number`; zero if there is none.
    public func session(_ number: Int) -> UInt64 { unsafe slot(number).pointee.session }

    /// Encrypts and appends a record from the relay to the member at `number`. The record must be neither a report nor one
    /// of a managed channel.
    public mutating func seal(_ record: Record, for number: Int, into datagram: inout OutputSpan<UInt8>) {
        record.requireNoContent()
        seal(record, content: Span(), for: number, into: &datagram)
    }

    /// Encrypts and appends a report to the member at `number`: RTCP of 8 to 1232 bytes.
    public mutating func seal(report: Span<UInt8>, for number: Int, into datagram: inout OutputSpan<UInt8>) {
        Record.require(report: report)
        seal(.report(0..<report.count), content: report, for: number, into: &datagram)
    }

    /// Encrypts and appends a record of a managed channel to the member at `number`. `content` is its type and body, at most
    /// 1233 bytes.
    public mutating func seal(managed content: Span<UInt8>, for number: Int, into datagram: inout OutputSpan<UInt8>) {
        Record.require(managed: content)
        seal(.managed(0..<content.count), content: content, for: number, into: &datagram)
    }

    private mutating func seal(
        _ record: Record, content: Span<UInt8>, for number: Int, into datagram: inout OutputSpan<UInt8>
    ) {
        let slot = unsafe slot(number)
        unsafe slot.pointee.counter += 1
        unsafe RecordFrame.seal(
            record, content: content, session: slot.pointee.session, counter: slot.pointee.counter,
            key: key(slot, 32), into: &datagram)
    }

    /// Decrypts a record from the member at `number` in place. If the record is a report, it contains the range of the
    /// RTCP in `datagram`; if it is one of a managed channel, the range of its content.
    public mutating func open(
        _ datagram: inout MutableSpan<UInt8>, from number: Int
    ) throws(RecordOpener.Failure) -> Record {
        let slot = unsafe slot(number)
        return try unsafe RecordFrame.open(&datagram, window: &slot.pointee.window, key: key(slot, 0))
    }

    private func slot(_ number: Int) -> UnsafeMutablePointer<Slot> {
        unsafe chunks[number / Self.chunkCount] + number % Self.chunkCount
    }

    /// Returns the 32 bytes of the key that is `offset` bytes after the first key in `slot`, without copying them.
    @_lifetime(borrow self)
    private func key(_ slot: UnsafeMutablePointer<Slot>, _ offset: Int) -> Span<UInt8> {
        let start = unsafe UnsafeRawPointer(slot) + Self.keysOffset + offset
        let span = unsafe Span(_unsafeStart: start.assumingMemoryBound(to: UInt8.self), count: 32)
        return unsafe _overrideLifetime(span, borrowing: self)
    }
}
