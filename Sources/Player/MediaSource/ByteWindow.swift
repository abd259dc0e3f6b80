internal import TenfourAudioCore

/// Looks at the bytes of a download here and there, through one piece of memory of a fixed size.
///
/// One thread at a time.
public struct ByteWindow: ~Copyable {
    public let download: any ByteSource
    private var memory: FixedBuffer<UInt8>
    private var start = 0
    private var count = 0
    private var loaded = 0..<0

    /// So many bytes are asked for at least, as asking has its price.
    private static let step = 16_384

    /// Room for `capacity` bytes, which is the most that can be looked at together.
    public init(of download: any ByteSource, capacity: Int = 1 << 17) {
        self.download = download
        memory = FixedBuffer(repeating: 0, count: capacity)
    }

    /// What was loaded last.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { memory.span(in: loaded) }
    }

    /// The same, to keep.
    public var copiedBytes: [UInt8] {
        let bytes = bytes
        return [UInt8](capacity: bytes.count) { for index in bytes.indices { $0.append(bytes[index]) } }
    }

    /// All that is held, and where it begins: nobody needs to be asked for that again.
    public var held: (offset: Int, bytes: [UInt8]) {
        let bytes = memory.span(in: 0..<count)
        return (start, [UInt8](capacity: count) { for index in bytes.indices { $0.append(bytes[index]) } })
    }

    /// Has `bytes` be those from `offset` on: `wanted` of them, or fewer at the end of the download. Waits for them.
    public mutating func load(at offset: Int, count wanted: Int) throws(ByteSourceError) {
        loaded = 0..<0
        let held = try hold(at: offset, count: wanted)
        loaded = (offset - start)..<(offset - start + held)
    }

    /// How many of `wanted` bytes there are from `offset` on, 0 being the end.
    private mutating func hold(at offset: Int, count wanted: Int) throws(ByteSourceError) -> Int {
        precondition(offset >= 0 && wanted >= 0 && wanted <= memory.count, "more than the window holds")
        if offset < start || offset > start + count {
            (start, count) = (offset, 0)
        } else if offset + wanted > start + memory.count {
            let kept = start + count - offset
            let skipped = offset - start
            var all = memory.mutableSpan
            for index in 0..<kept { all[index] = all[skipped + index] }
            (start, count) = (offset, kept)
        }
        while start + count < offset + wanted {
            let got = try Self.fill(
                &memory, in: count..<min(count + max(offset + wanted - start - count, Self.step), memory.count),
                outOf: download, at: start + count)
            guard got > 0 else { break }
            count += got
        }
        return min(wanted, max(start + count - offset, 0))
    }

    private static func fill(
        _ memory: inout FixedBuffer<UInt8>, in free: Range<Int>, outOf download: any ByteSource, at offset: Int
    ) throws(ByteSourceError) -> Int {
        var room = memory.mutableSpan(in: free)
        var failure: ByteSourceError?
        let got = unsafe room.withUnsafeMutableBytes { room in
            do throws(ByteSourceError) {
                return unsafe try download.read(at: offset, into: room)
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        // A download that says it gave more than there was room for must not make us read past it.
        return min(max(got, 0), free.count)
    }
}
