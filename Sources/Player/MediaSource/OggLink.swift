internal import TenfourAudioCore

/// One stream of a chain of Ogg streams (RFC 3533 section 4) as a byte source of its own. Its offsets begin at the start
/// of the link. The end is given, or found while the bytes are read in order.
///
/// A demuxer that reads a link need not know of chains: libavformat keeps the clock and the decoder of the first link.
final class OggLink: ByteSource, @unchecked Sendable {
    let base: any ByteSource
    /// The offset in `base` at which the link begins.
    let start: Int
    /// The offset in `base` at which the next link begins; nil if it is the end of the source, or unknown.
    private(set) var end: Int?
    /// Bytes that were read before, with their offsets in `base`. Reading them again needs no request.
    private var kept: [KeptBytes]
    private var finder: OggLinkEnd?

    struct KeptBytes {
        var offset: Int
        var bytes: [UInt8]
    }

    init(of base: any ByteSource, from start: Int, to end: Int? = nil, kept: [KeptBytes] = [], findsEnd: Bool = false) {
        self.base = base
        self.start = start
        self.end = end
        self.kept = kept
        finder = findsEnd ? OggLinkEnd(from: start) : nil
    }

    /// The bytes after the end that were read with those before it.
    private(set) var rest: KeptBytes?

    var state: ByteSourceState {
        var state = base.state
        state.byteCount = (end ?? state.byteCount).map { max($0 - start, 0) }
        let limit = state.byteCount ?? .max
        state.available = Self.shifted(state.available, by: start, limit: limit)
        state.held = Self.shifted(state.held, by: start, limit: limit)
        return state
    }

    private static func shifted(_ range: Range<Int>, by start: Int, limit: Int) -> Range<Int> {
        let low = min(max(range.lowerBound - start, 0), limit)
        return low..<max(min(max(range.upperBound - start, 0), limit), low)
    }

    var limits: BufferLimits {
        get { base.limits }
        set { base.limits = newValue }
    }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        guard offset >= 0, offset < Int.max - start else { return 0 }
        let place = start + offset
        let room = min(buffer.count, max((end ?? .max) - place, 0))
        if room == 0 { return 0 }
        var count = 0
        if let piece = kept.first(where: { $0.offset <= place && place < $0.offset + $0.bytes.count }) {
            let first = place - piece.offset
            count = min(piece.bytes.count - first, room)
            for index in 0..<count { unsafe buffer[index] = piece.bytes[first + index] }
        } else {
            count = try unsafe base.read(at: place, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]))
            count = min(max(count, 0), room)
        }
        guard end == nil, var finder else { return count }
        let bytes = unsafe buffer.bindMemory(to: UInt8.self)
        let found = unsafe finder.find(in: bytes.span.extracting(0..<count), at: place)
        self.finder = finder
        guard let found else { return count }
        end = found
        let inside = max(found - place, 0)
        if inside < count { rest = unsafe KeptBytes(offset: found, bytes: Array(bytes[inside..<count])) }
        return inside
    }

    func holdAll() { base.holdAll() }
    func title(at offset: Int) -> String? { base.title(at: start + offset) }
    func interrupt() { base.interrupt() }
    func resume() { base.resume() }
    func pause(_ isPaused: Bool) { base.pause(isPaused) }
    func stop() { base.stop() }
}

/// Finds the page that begins the next link, in bytes that pass in order.
private struct OggLinkEnd {
    /// The offset at which the next page begins.
    private var next: Int
    /// The beginning of the header at `next`.
    private var header: [UInt8] = []
    /// Whether a page was seen that begins no stream.
    private var hasAudio = false

    init(from start: Int) { next = start }

    /// Returns the offset at which the next link begins; nil if `bytes`, which lie at `offset`, do not tell.
    mutating func find(in bytes: Span<UInt8>, at offset: Int) -> Int? {
        let end = offset + bytes.count
        // Bytes that were read before, or behind a gap, are left out.
        while next + header.count >= offset, next + header.count < end {
            header.append(bytes[next + header.count - offset])
            guard header.count >= OggPage.fixedByteCount else { continue }
            guard header.span.holds("OggS", at: 0) else {
                next += 1
                header.removeFirst()
                continue
            }
            let isFirst = header[5] & 2 != 0
            if isFirst, hasAudio { return next }
            let segmentCount = Int(header[26])
            guard header.count == OggPage.fixedByteCount + segmentCount else { continue }
            if !isFirst { hasAudio = true }
            next += header.count + header[OggPage.fixedByteCount...].reduce(0) { $0 + Int($1) }
            header = []
        }
        return nil
    }
}
