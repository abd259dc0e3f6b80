/// Opus packets of one stream of Ogg, put together of the pieces that lie in its pages, with the time that those tell (RFC 7845
/// section 4).
struct OggPackets {
    struct Packet {
        var offset = 0
        var bytes: [UInt8] = []
        var frameCount = 0
        /// In granules.
        var start = 0
        var length = 0
        /// Its beginning is missing.
        fileprivate var isTorn = false
    }

    /// Of the last page, those that nobody has had.
    var pending: ArraySlice<Packet> = []
    /// How far frames have come, in granules; nil when the next page must tell.
    private(set) var granule: Int?
    /// Where the sound begins: that of a recording that began in the middle does not begin at zero.
    private(set) var origin: Int?

    private var sequence: UInt32?
    private var partial = Packet()

    /// An Opus packet of 120 ms has no more.
    private static let packetLimit = 61_440

    /// Goes on with another page than the next, before which frames have come to `granule`.
    mutating func restart(granule: Int?) {
        (self.granule, sequence, partial, pending) = (granule, nil, Packet(), [])
    }

    /// Takes a page and its bytes.
    mutating func take(_ page: OggPage, _ bytes: [UInt8]) {
        if let sequence, page.sequence != sequence &+ 1 {
            partial = Packet()
            granule = nil
        }
        sequence = page.sequence
        pending = []
        split(page, bytes)
        // What an endless row of pages does not finish is no packet.
        if partial.bytes.count > Self.packetLimit { partial = Packet(isTorn: true) }
        guard let end = page.granule else {
            pending = []
            return
        }
        let sum = pending.reduce(0) { $0 + $1.frameCount }
        // The last page says where the sound ends, which may be within its packets; every other, where its packets end.
        var start = page.isLast ? granule ?? max(end - sum, 0) : end - sum
        if origin == nil { origin = max(start, 0) }
        for index in pending.indices {
            pending[index].start = start
            pending[index].length = max(min(pending[index].frameCount, end - start), 0)
            start += pending[index].frameCount
        }
        granule = end
    }

    /// Puts the pieces together.
    private mutating func split(_ page: OggPage, _ bytes: [UInt8]) {
        var place = page.headerByteCount
        if !page.isContinuing { partial = Packet() } else if partial.bytes.isEmpty { partial.isTorn = true }
        for segment in page.segments {
            if partial.bytes.isEmpty, !partial.isTorn { partial.offset = page.offset + place }
            if !partial.isTorn, partial.bytes.count <= Self.packetLimit {
                partial.bytes.append(contentsOf: bytes[place..<place + Int(segment)])
            }
            place += Int(segment)
            guard segment < 255 else { continue }
            if !partial.isTorn, let count = opusFrameCount(partial.bytes.span) {
                partial.frameCount = count
                pending.append(partial)
            }
            partial = Packet()
        }
    }
}
