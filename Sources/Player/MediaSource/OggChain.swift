internal import TenfourAudioCore

/// The offsets at which the links of a chain of Ogg streams begin, in a source with random access.
struct OggChain {
    private(set) var starts: [Int] = [0]
    /// The beginning and the end of the source.
    private(set) var kept: [OggLink.KeptBytes] = []

    /// The largest number of links that are told apart; the last one then holds the rest.
    private static let limit = 256
    /// The number of bytes at the beginning and the end that are kept.
    private static let keptByteCount = 1 << 16

    /// Finds the links of `source`, by bisection. Blocks.
    init(of source: any ByteSource) throws(ByteSourceError) {
        guard let byteCount = source.state.byteCount else { return }
        let head = try Self.bytes(of: source, at: 0)
        let tail = try Self.bytes(of: source, at: max(byteCount - OggPage.longest, 0))
        kept = [head, tail]
        var pages = OggPages(ByteWindow(of: OggLink(of: source, from: 0, kept: kept)))
        var last: OggPage?
        var place = tail.offset
        while let page = try pages.page(from: place, before: byteCount) {
            last = page
            place = page.end
        }
        guard let last else { return }
        while starts.count < Self.limit {
            let (serials, begin) = try Self.serials(&pages, from: starts[starts.count - 1], before: byteCount)
            if serials.isEmpty { return }
            let rest = begin..<last.end
            let isOther = !serials.contains(last.serial)
            let end = isOther ? rest.upperBound : try Self.endOfOther(&pages, serials, rest, of: source)
            guard let end, var next = try Self.start(of: &pages, after: serials, in: begin..<end) else { return }
            // Another link may lie before the one that was found.
            while let end = try Self.endOfOther(&pages, serials, begin..<next, of: source),
                let earlier = try Self.start(of: &pages, after: serials, in: begin..<end), earlier < next
            {
                next = earlier
            }
            starts.append(next)
        }
    }

    /// Returns the end of a page in `range` of none of the streams `serials`, at one of 15 places; nil if there is none.
    /// A chain may end with the stream that it begins with. The places are examined only where that needs no request.
    private static func endOfOther(
        _ pages: inout OggPages, _ serials: Set<UInt32>, _ range: Range<Int>, of source: any ByteSource
    ) throws(ByteSourceError) -> Int? {
        guard source.isHere else { return nil }
        for step in 1..<16 {
            let place = range.lowerBound + range.count / 16 * step
            if let page = try pages.page(from: place, before: range.upperBound), !serials.contains(page.serial) {
                return page.end
            }
        }
        return nil
    }

    private static func bytes(of source: any ByteSource, at offset: Int) throws(ByteSourceError) -> OggLink.KeptBytes {
        var window = ByteWindow(of: source)
        try window.load(at: offset, count: keptByteCount)
        return OggLink.KeptBytes(offset: offset, bytes: window.copiedBytes)
    }

    /// Returns the serial numbers of the streams that begin at `offset`, and the end of their first pages.
    private static func serials(
        _ pages: inout OggPages, from offset: Int, before limit: Int
    ) throws(ByteSourceError) -> (Set<UInt32>, end: Int) {
        var serials: Set<UInt32> = []
        var place = offset
        while let page = try pages.page(from: place, before: limit), page.isFirst, serials.count < 64 {
            serials.insert(page.serial)
            place = page.end
        }
        return (serials, place)
    }

    /// Returns the offset of the first page in `range` of none of the streams `serials`.
    private static func start(
        of pages: inout OggPages, after serials: Set<UInt32>, in range: Range<Int>
    ) throws(ByteSourceError) -> Int? {
        var (low, high) = (range.lowerBound, range.upperBound)
        var found: Int?
        while low < high {
            let middle = high - low > 2 * OggPage.longest ? low + (high - low) / 2 : low
            guard let page = try pages.page(from: middle, before: high) else {
                if middle == low { break }
                high = middle
                continue
            }
            if serials.contains(page.serial) {
                low = page.end
            } else {
                found = page.offset
                high = middle
            }
        }
        return found
    }
}
