internal import COgg

/// Reassembles the Opus packets of one Ogg stream from its pages and computes their timestamps (RFC 7845 section 4).
/// The C functions are `ogg_stream_pagein` and `ogg_stream_packetout`.
@safe
struct OggPackets: ~Copyable {
    struct Packet {
        var offset = 0
        var bytes: [UInt8] = []
        var frameCount = 0
        /// The start of the packet in granules: frames at 48 kHz.
        var start = 0
        var length = 0
    }

    /// The packets of the last page that have not been returned yet.
    var pending: ArraySlice<Packet> = []
    /// The granule at which the last page ended; nil if it is known only from the next page.
    private(set) var granule: Int?
    /// The granule at which the audio begins. It is above zero in a recording cut out of a longer stream.
    private(set) var origin: Int?

    /// Whether the last page was marked as the last one.
    private(set) var hasLast = false
    /// The granules that are missing before the packets of the last page, because pages are missing; nil if none are.
    private(set) var hole: Range<Int>?
    /// The granule at which pages are missing, until the next packets are found.
    private var holeStart: Int?

    private let stream = UnsafeMutablePointer<ogg_stream_state>.allocate(capacity: 1)
    private var sequence: UInt32?
    /// The offset of an unfinished packet, which the next page continues; nil if there is none.
    private var partialOffset: Int?

    /// The longest possible Opus packet, of 120 ms, in bytes.
    private static let packetLimit = 61_440

    init(serial: UInt32) {
        unsafe ogg_stream_init(stream, Int32(bitPattern: serial))
        // Resets the stream, since libogg would otherwise expect page 0, and report a gap before any other page.
        unsafe ogg_stream_reset(stream)
    }

    deinit {
        unsafe ogg_stream_clear(stream)
        unsafe stream.deallocate()
    }

    /// Continues at another page. `granule` is the end of the page before it.
    mutating func restart(granule: Int?) {
        (self.granule, sequence, pending) = (granule, nil, [])
        (hole, holeStart) = (nil, nil)
        dropPartial()
    }

    /// Appends a page of this stream. `raw` is libogg's page.
    mutating func append(_ page: OggPage, _ raw: ogg_page) {
        let before = granule
        hole = nil
        defer { findHole() }
        if let sequence, page.sequence != sequence &+ 1 {
            dropPartial()
            granule = nil
            holeStart = holeStart ?? before
        } else if !page.isContinuing, partialOffset != nil {
            dropPartial()
        }
        sequence = page.sequence
        hasLast = page.isLast
        pending = []
        var offsets = packetOffsets(in: page)[...]
        var (raw, packet) = unsafe (raw, ogg_packet())
        unsafe ogg_stream_pagein(stream, &raw)
        while unsafe ogg_stream_packetout(stream, &packet) == 1 {
            let offset = offsets.popFirst() ?? page.offset
            guard let start = unsafe packet.packet, unsafe packet.bytes <= Self.packetLimit else { continue }
            let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: packet.bytes))
            guard let frameCount = opusFrameCount(bytes.span) else { continue }
            pending.append(Packet(offset: offset, bytes: bytes, frameCount: frameCount))
        }
        // Drops an unfinished packet that is longer than any valid packet, since it may never end.
        if unsafe stream.pointee.body_fill - stream.pointee.body_returned > Self.packetLimit { dropPartial() }
        setTimes(page)
    }

    /// Returns the offsets of the packets that end in `page`, except a packet whose beginning is missing.
    private mutating func packetOffsets(in page: OggPage) -> [Int] {
        var offsets: [Int] = []
        var place = page.offset + page.headerByteCount
        var start = page.isContinuing ? partialOffset : place
        for segment in page.segments {
            place += Int(segment)
            guard segment < 255 else { continue }
            if let start { offsets.append(start) }
            start = place
        }
        partialOffset = page.segments.last == 255 ? start : nil
        return offsets
    }

    private mutating func setTimes(_ page: OggPage) {
        guard let end = page.granule else {
            pending = []
            return
        }
        let sum = pending.reduce(0) { $0 + $1.frameCount }
        // The last page's granule is the end of the audio, which may lie within its packets. The granule of every other
        // page is the end of its last packet.
        var start = page.isLast ? granule ?? max(end - sum, 0) : end - sum
        if origin == nil { origin = max(start, 0) }
        for index in pending.indices {
            pending[index].start = start
            pending[index].length = max(min(pending[index].frameCount, end - start), 0)
            start += pending[index].frameCount
        }
        granule = end
    }

    /// Finds the end of a hole, which is known from the first page after it that has a granule.
    private mutating func findHole() {
        guard let begin = holeStart, let end = pending.first?.start else { return }
        hole = begin < end ? begin..<end : nil
        holeStart = nil
    }

    private mutating func dropPartial() {
        unsafe ogg_stream_reset(stream)
        partialOffset = nil
    }
}
