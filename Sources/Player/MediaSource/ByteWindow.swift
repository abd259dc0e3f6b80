internal import TenfourAudioCore

/// Reads arbitrary ranges of a byte source through one buffer of fixed size.
///
/// For one thread at a time.
public struct ByteWindow: ~Copyable {
    public let byteSource: any ByteSource
    private var memory: FixedBuffer<UInt8>
    private var start = 0
    private var count = 0
    private var loaded = 0..<0

    /// The minimum number of bytes per read, since each read has a fixed cost.
    private static let step = 16_384

    /// Creates a window of `capacity` bytes, the longest range that one call can load.
    public init(of byteSource: any ByteSource, capacity: Int = 1 << 17) {
        self.byteSource = byteSource
        memory = FixedBuffer(repeating: 0, count: capacity)
    }

    /// The range that was loaded last.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { memory.span(in: loaded) }
    }

    /// A copy of `bytes`.
    public var copiedBytes: [UInt8] {
        let bytes = bytes
        return [UInt8](capacity: bytes.count) { for index in bytes.indices { $0.append(bytes[index]) } }
    }

    /// All buffered bytes, and the offset of the first of them. Reading them needs no request.
    public var held: (offset: Int, bytes: [UInt8]) {
        let bytes = memory.span(in: 0..<count)
        return (start, [UInt8](capacity: count) { for index in bytes.indices { $0.append(bytes[index]) } })
    }

    /// Loads `wanted` bytes from `offset` on into `bytes`, fewer at the end of the source. Blocks until they have
    /// arrived.
    public mutating func load(at offset: Int, count wanted: Int) throws(ByteSourceError) {
        loaded = 0..<0
        let held = try hold(at: offset, count: wanted)
        loaded = (offset - start)..<(offset - start + held)
    }

    /// Loads the bytes that have arrived into `bytes`: those from `offset` on, at most `limit`. Keeps the bytes from
    /// `first` on. Blocks until at least one byte has arrived; loads none at the end of the source.
    mutating func loadAvailable(at offset: Int, limit: Int, keepingFrom first: Int) throws(ByteSourceError) {
        loaded = 0..<0
        guard try hold(at: first, count: offset - first + 1) > offset - first else { return }
        loaded = (offset - start)..<min(offset - start + limit, count)
    }

    /// Makes room for `wanted` bytes from `offset` on, so that loading any of them keeps the others. Reads nothing.
    private mutating func keep(from offset: Int, room wanted: Int) {
        if offset < start || offset > start + count {
            (start, count) = (offset, 0)
        } else if offset + wanted > start + memory.count {
            let kept = start + count - offset
            let skipped = offset - start
            var all = memory.mutableSpan
            for index in 0..<kept { all[index] = all[skipped + index] }
            (start, count) = (offset, kept)
        }
    }

    /// Reads until `wanted` bytes from `offset` on are buffered. Returns their number, smaller at the end of the
    /// source.
    private mutating func hold(at offset: Int, count wanted: Int) throws(ByteSourceError) -> Int {
        precondition(offset >= 0 && wanted >= 0 && wanted <= memory.count, "more than the window holds")
        keep(from: offset, room: wanted)
        while start + count < offset + wanted {
            let got = try Self.fill(
                &memory, in: count..<min(count + max(offset + wanted - start - count, Self.step), memory.count),
                outOf: byteSource, at: start + count)
            guard got > 0 else { break }
            count += got
        }
        return min(wanted, max(start + count - offset, 0))
    }

    private static func fill(
        _ memory: inout FixedBuffer<UInt8>, in free: Range<Int>, outOf byteSource: any ByteSource, at offset: Int
    ) throws(ByteSourceError) -> Int {
        var room = memory.mutableSpan(in: free)
        var failure: ByteSourceError?
        let got = unsafe room.withUnsafeMutableBytes { room in
            do throws(ByteSourceError) {
                return unsafe try byteSource.read(at: offset, into: room)
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        // Limits the count that the source returned, so that a wrong count does not make us read beyond the free space.
        return min(max(got, 0), free.count)
    }
}
