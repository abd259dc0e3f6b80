/// Reassembles the Opus packets of one Ogg stream from its pages and computes their timestamps (RFC 7845 section 4).
struct OggPackets {
    struct Packet {
        var offset = 0
        var bytes: [UInt8] = []
        var frameCount = 0
        /// In granules: frames at 48 kHz.
        var start = 0
        var length = 0
        /// Whether its beginning is missing.
        fileprivate var isIncomplete = false
    }

    /// Packets of the last page that have not been returned yet.
    var pending: ArraySlice<Packet> = []
    /// The granule at which the last page ended; nil if only the next page tells.
    private(set) var granule: Int?
    /// The granule at which the audio begins. It is above zero in a recording cut out of a longer stream.
    private(set) var origin: Int?

    private var sequence: UInt32?
    private var partial = Packet()

    /// The longest possible Opus packet, of 120 ms, in bytes.
    private static let packetLimit = 61_440

    /// Continues at another page. `granule` is that of the end of the page before it.
    mutating func restart(granule: Int?) {
        (self.granule, sequence, partial, pending) = (granule, nil, Packet(), [])
    }

    /// Appends a page and its bytes.
    mutating func append(_ page: OggPage, _ bytes: [UInt8]) {
        if let sequence, page.sequence != sequence &+ 1 {
            partial = Packet()
            granule = nil
        }
        sequence = page.sequence
        pending = []
        split(page, bytes)
        // A packet that never ends is dropped.
        if partial.bytes.count > Self.packetLimit { partial = Packet(isIncomplete: true) }
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

    /// Joins segments to packets.
    private mutating func split(_ page: OggPage, _ bytes: [UInt8]) {
        var place = page.headerByteCount
        if !page.isContinuing { partial = Packet() } else if partial.bytes.isEmpty { partial.isIncomplete = true }
        for segment in page.segments {
            if partial.bytes.isEmpty, !partial.isIncomplete { partial.offset = page.offset + place }
            if !partial.isIncomplete, partial.bytes.count <= Self.packetLimit {
                partial.bytes.append(contentsOf: bytes[place..<place + Int(segment)])
            }
            place += Int(segment)
            guard segment < 255 else { continue }
            if !partial.isIncomplete, let count = opusFrameCount(partial.bytes.span) {
                partial.frameCount = count
                pending.append(partial)
            }
            partial = Packet()
        }
    }
}
