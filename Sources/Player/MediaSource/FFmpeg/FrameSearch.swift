/// Finds frames without a container. Many bytes look like the header of a frame, so a frame counts only if others follow
/// it without a gap.
///
/// The recognition is strict, as that of libavformat: of 90 programs of a `/usr/bin`, 32 have three headers of Layer I at
/// the right distances somewhere in their first MiB.
enum FrameSearch {
    /// The number of frames that must follow the first frame of a stream, or the first one of another format in it.
    private static let followersOfFirst = 5
    /// The largest number of zeros before the first frame, and of bytes that are searched in a named format: 1 MiB.
    private static let beginningLimit = 1 << 20
    /// The largest number of zeros at the end that are no damage: a block of many disks and tapes.
    private static let paddingLimit = 1 << 16
    /// The number of bytes that tell a tag from others.
    private static let tagHeaderByteCount = 32

    /// Returns the first frame of a stream; nil if there is none. It must begin within the length of one frame after
    /// `start`, or after tags or zeros there. Five frames must follow it, or frames must fill the source. If `isNamed`,
    /// it may begin anywhere in the first MiB, and two suffice.
    static func first(
        in window: inout ByteWindow, from start: Int, isNamed: Bool
    ) throws(DemuxerError) -> FrameStream.Found? {
        let start = try contents(of: &window, from: start)
        var offset = start
        while offset - start < (isNamed ? beginningLimit : FrameHeader.longest) {
            try load(&window, at: offset, count: FrameHeader.headerByteCount)
            guard window.bytes.count == FrameHeader.headerByteCount else { return nil }
            if let header = FrameHeader(window.bytes), header.frameCount > 0,
                isNamed || offset - start < header.longestFrame
            {
                let needed = isNamed ? 2 : followersOfFirst
                let (count, end) = try followers(of: header, at: offset, in: &window, atMost: needed)
                if count == needed { return (offset, header) }
                // The frames up to the end of the source, the last of which may be truncated. A single one must be whole.
                if let end, offset == start {
                    if count > 0 { return (offset, header) }
                    try load(&window, at: end - 1, count: 1)
                    if !window.bytes.isEmpty { return (offset, header) }
                }
            }
            offset += 1
        }
        return nil
    }

    /// Returns the first frame that begins in `range` and is like one of `formats`, or of the same coding; nil if there
    /// is none.
    static func next(
        in window: inout ByteWindow, _ range: Range<Int>, like formats: [FrameHeader], followers needed: Int
    ) throws(DemuxerError) -> FrameStream.Found? {
        var (offset, limit) = (range.lowerBound, range.upperBound)
        while offset < limit {
            try load(&window, at: offset, count: FrameHeader.headerByteCount)
            guard window.bytes.count == FrameHeader.headerByteCount else { return nil }
            if mayBeTag(window.bytes), let end = try endOfTag(at: offset, in: &window) {
                try pass(&window, from: offset, to: end)
                // A tag is no part of the gap.
                limit += end - offset
                offset = end
                continue
            }
            if let header = FrameHeader(window.bytes), header.frameCount > 0, header.coding == formats[0].coding {
                let isKnown = formats.contains(where: header.fits)
                let needed = isKnown ? needed : followersOfFirst
                let (count, end) = try followers(of: header, at: offset, in: &window, atMost: needed)
                if count == needed || isKnown && end != nil { return (offset, header) }
            }
            offset += 1
        }
        return nil
    }

    /// Returns the number of frames that follow the one at `offset` without a gap, and the offset at which they end if
    /// the source or its audio ends there.
    private static func followers(
        of header: FrameHeader, at offset: Int, in window: inout ByteWindow, atMost limit: Int
    ) throws(DemuxerError) -> (count: Int, end: Int?) {
        var length = header.byteCount
        for count in 0..<limit {
            // Loads all from `offset` on, since the frame itself is read after those that follow it.
            try load(&window, at: offset, count: length + FrameHeader.headerByteCount)
            if window.bytes.count <= length { return (count, offset + length) }
            let mayEnd = mayBeTag(window.bytes.extracting(length...))
            if mayEnd, try endOfTag(at: offset, length, in: &window) != nil { return (count, offset + length) }
            guard let next = FrameHeader(window.bytes, at: length), next.fits(header) else { return (count, nil) }
            length += next.byteCount
        }
        return (limit, nil)
    }

    /// Returns the offset of the first byte at or after `start` that is neither zero nor part of a tag.
    private static func contents(of window: inout ByteWindow, from start: Int) throws(DemuxerError) -> Int {
        var offset = start
        while offset - start < beginningLimit {
            try load(&window, at: offset, count: FrameHeader.headerByteCount)
            guard !window.bytes.isEmpty else { return offset }
            if window.bytes[0] == 0 {
                offset += 1
            } else if mayBeTag(window.bytes), let end = try endOfTag(at: offset, in: &window) {
                try pass(&window, from: offset, to: end)
                offset = end
            } else {
                return offset
            }
        }
        return offset
    }

    // MARK: Tags

    /// Returns the number of bytes in `range` that belong to no tag at its beginning or its end.
    static func untaggedByteCount(
        in range: Range<Int>, of window: inout ByteWindow
    ) throws(DemuxerError) -> Int {
        var (begin, end) = (range.lowerBound, range.upperBound)
        while begin < end {
            try load(&window, at: begin, count: FrameHeader.headerByteCount)
            if window.bytes.holds("LYRI", at: 0) { return 0 }
            guard mayBeTag(window.bytes), let next = try endOfTag(at: begin, in: &window) else { break }
            begin = next
        }
        // Tags at the end: ID3v1, and APEv2 by its footer.
        if end - begin >= 128 {
            try load(&window, at: end - 128, count: 3)
            if window.bytes.holds("TAG", at: 0) { end -= 128 }
        }
        if end - begin >= tagHeaderByteCount {
            try load(&window, at: end - tagHeaderByteCount, count: tagHeaderByteCount)
            if window.bytes.count == tagHeaderByteCount, window.bytes.holds("APETAGEX", at: 0) {
                end -=
                    Int(window.bytes.littleEndian32(at: 12)) + (window.bytes[23] & 0x80 != 0 ? tagHeaderByteCount : 0)
            }
        }
        return max(end - begin, 0)
    }

    /// Returns whether the `count` bytes from `offset` on are zeros with which a program filled the last block of a file.
    static func isPadding(
        at offset: Int, count: Int, in window: inout ByteWindow
    ) throws(DemuxerError) -> Bool {
        guard count <= paddingLimit else { return false }
        try load(&window, at: offset, count: count)
        return window.copiedBytes.allSatisfy { $0 == 0 }
    }

    private static func mayBeTag(_ bytes: Span<UInt8>) -> Bool {
        bytes.holds("ID3", at: 0) || bytes.holds("TAG", at: 0) || bytes.holds("APETAGE", at: 0)
    }

    /// Returns the end of the tag that lies `distance` bytes after `begin`, as between files that were joined and at the end;
    /// nil if there is none. Sources: id3.org, and the wiki of Hydrogenaudio on APEv2.
    private static func endOfTag(
        at begin: Int, _ distance: Int = 0, in window: inout ByteWindow
    ) throws(DemuxerError) -> Int? {
        try load(&window, at: begin, count: distance + tagHeaderByteCount)
        let offset = begin + distance
        let bytes = window.bytes.extracting(min(distance, window.bytes.count)...)
        if bytes.holds("TAG", at: 0) { return offset + 128 }
        if bytes.count >= 32, bytes.holds("APETAGEX", at: 0) {
            // The size leaves out the header. A footer has no bytes after it.
            let isHeader = bytes[23] & 0x20 != 0
            return offset + 32 + (isHeader ? Int(bytes.littleEndian32(at: 12)) : 0)
        }
        guard bytes.count >= 10, bytes.holds("ID3", at: 0), 2...4 ~= bytes[3] else { return nil }
        var size = 0
        for index in 6..<10 {
            guard bytes[index] < 0x80 else { return nil }
            size = size << 7 | Int(bytes[index])
        }
        return offset + 10 + size + (bytes[5] & 0x10 != 0 ? 10 : 0)
    }

    /// Reads the bytes of a tag, if the source cannot seek past them.
    private static func pass(_ window: inout ByteWindow, from start: Int, to end: Int) throws(DemuxerError) {
        var place = start
        while !window.byteSource.state.isSeekable, place < end {
            try load(&window, at: place, count: min(end - place, 1 << 14))
            if window.bytes.isEmpty { return }
            place += window.bytes.count
        }
    }

    private static func load(_ window: inout ByteWindow, at offset: Int, count: Int) throws(DemuxerError) {
        do { try window.load(at: offset, count: count) } catch { throw .byteSource(error) }
    }
}
