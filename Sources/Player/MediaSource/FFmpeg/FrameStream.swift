internal import Glibc
internal import TenfourAudioCore

/// Finds frames in a byte source and indexes them from the start on.
package struct FrameStream: ~Copyable {
    package typealias Found = (offset: Int, header: FrameHeader)

    let byteSource: any ByteSource
    var window: ByteWindow
    /// The offset of the first frame. This frame may contain a VBR header instead of audio.
    package let begin: Int
    package let first: FrameHeader
    var index: FrameIndex
    /// The headers of the formats that were confirmed in this stream, the newest first, at most `formatLimit`: rate and
    /// channels change where files were joined.
    var formats: [FrameHeader]
    /// The measurements of the density, in ticks per byte, each with its offset. The duration and seek positions
    /// are estimated from them.
    private(set) var samples: [(offset: Int, density: Double)] = []
    /// The bit rate in bit/s if all frames so far had the same bit rate; otherwise nil.
    private var constantBitRate: Int?

    /// The largest number of bytes to search for the next frame after a gap. If there is no frame in them, the stream
    /// counts as ended.
    private static let gapLimit = 1 << 24
    /// The largest number of elements of `formats`.
    private static let formatLimit = 16
    /// The largest number of elements of `samples`: measurements of the density.
    private static let sampleLimit = 64
    /// The number of bytes that are parsed for one measurement of the density.
    private static let sampledByteCount = 8_192
    /// The number of consecutive frames with equal bit rate after which the bit rate is assumed constant.
    static let trustedPacketCount = 50
    /// The largest number of buffered bytes to scan for one seek: 64 MiB. An hour of MP3 fits into it, and is scanned
    /// in some tens of milliseconds.
    static let scannedByteCount = 1 << 26
    /// The number of measurements of the density that are always attempted, up to the time limit `patience`. Each
    /// may need a request.
    private static let usualSampleCount = 16
    /// The time limit for the first `usualSampleCount` measurements of the density, in total.
    static let patience = Duration.seconds(1)
    /// The number of bytes that must be buffered beyond the last parsed frame when the next frame is parsed.
    private static let margin = 2_048
    /// The time without new bytes after which the bytes that have arrived count as all there are. A pipe is empty for a
    /// moment after each read, until its writer refills it.
    private static let arrivalPatience = Duration.milliseconds(50)

    /// Finds the first frame at or after `start`, and continues reading from `window`.
    package init(_ given: consuming ByteWindow, from start: Int) throws(DemuxerError) {
        var window = given
        guard let found = try FrameSearch.first(in: &window, from: start, isNamed: false) else {
            throw Self.unknownFormat
        }
        self.init(window, from: found)
    }

    static let unknownFormat = DemuxerError.malformed(
        "this is not a known audio format, or the file is damaged: convert it with ffmpeg, or download it again",
        kind: .unknownFormat)

    /// Begins at the frame `found`, which `FrameSearch` has found in `window`.
    init(_ window: consuming ByteWindow, from found: Found) {
        byteSource = window.byteSource
        self.window = window
        begin = found.offset
        first = found.header
        formats = [first]
        constantBitRate = first.bitRate
        index = FrameIndex(from: begin, spacing: FrameHeader.ticksPerSecond)
    }

    /// Reads the VBR header in the first frame; nil if it has none. A frame with a VBR header carries no audio.
    package mutating func readVBRHeader() throws(DemuxerError) -> VBRHeader? {
        let header = first
        try load(at: begin, count: header.byteCount)
        guard let vbr = VBRHeader(window.bytes, header) else { return nil }
        index = FrameIndex(from: begin + header.byteCount, spacing: FrameHeader.ticksPerSecond)
        if !vbr.isConstantRate { constantBitRate = nil }
        // Takes the bit rate from the frame after the header's frame, whose own bit rate may differ.
        if vbr.isConstantRate, let next = try frame(at: index.end.offset) { constantBitRate = next.header.bitRate }
        return vbr
    }

    /// The mean number of ticks per byte so far.
    var density: Double {
        let known = index.end
        if known.time > 0, known.offset > begin {
            return Double(known.time) / Double(known.offset - index.entries[0].offset)
        }
        return Double(first.duration) / Double(first.byteCount)
    }

    /// Improves the first estimate of the duration by the buffered bytes, without blocking.
    mutating func estimateFromBuffer() throws(DemuxerError) {
        guard byteSource.state.isSeekable, let byteCount = byteSource.state.byteCount else { return }
        if isBuffered(upTo: byteCount) {
            try sample(for: .milliseconds(5))
        } else {
            let end = index.end.time + 4 * FrameHeader.ticksPerSecond
            while index.end.time < end, isBuffered(upTo: index.end.offset + 2 * FrameHeader.longest), !index.isComplete
            {
                _ = try scan(to: index.end.time)
            }
        }
    }

    // MARK: Finding frames

    /// Returns the frame at `offset`, or the first one after it; nil at the end.
    package mutating func frame(at offset: Int) throws(DemuxerError) -> Found? {
        try load(at: offset, count: FrameHeader.headerByteCount)
        if window.bytes.isEmpty { return nil }
        if let header = FrameHeader(window.bytes), formats.contains(where: header.fits) { return (offset, header) }
        return try synchronize(from: offset, followers: 1)
    }

    /// Returns the first frame at or after `offset` that `followers` further frames follow. A frame of a new rate or
    /// channel count needs more of them.
    mutating func synchronize(from offset: Int, followers: Int) throws(DemuxerError) -> Found? {
        let limit = offset + Self.gapLimit
        guard let found = try FrameSearch.next(in: &window, offset..<limit, like: formats, followers: followers)
        else { return nil }
        if !formats.contains(where: found.header.fits) {
            formats.insert(found.header, at: 0)
            if formats.count > Self.formatLimit { formats.removeLast() }
        }
        return found
    }

    /// Returns the number of bytes in `range` that belong to no tag.
    mutating func untaggedByteCount(in range: Range<Int>) throws(DemuxerError) -> Int {
        try FrameSearch.untaggedByteCount(in: range, of: &window)
    }

    /// Returns whether the `count` bytes from `offset` on only fill the last block of the file.
    mutating func isPadding(after offset: Int, _ count: Int) throws(DemuxerError) -> Bool {
        try FrameSearch.isPadding(at: offset, count: count, in: &window)
    }

    mutating func load(at offset: Int, count: Int) throws(DemuxerError) {
        do { try window.load(at: offset, count: count) } catch { throw .byteSource(error) }
    }

    // MARK: Index

    mutating func append(_ found: Found) {
        index.append(offset: found.offset, byteCount: found.header.byteCount, duration: found.header.duration)
        if found.header.bitRate != constantBitRate { constantBitRate = nil }
    }

    /// Parses from the end of the index until it contains `time`, or up to byte `limit` or `deadline`. Returns true
    /// when nothing is left to parse.
    mutating func scan(
        to time: Int, before limit: Int = .max, until deadline: ContinuousClock.Instant? = nil
    ) throws(DemuxerError) -> Bool {
        var steps = 0
        while !index.isComplete, index.end.time <= time, index.end.offset < limit {
            steps += 1
            if steps % 64 == 0, let deadline, ContinuousClock.now > deadline { return false }
            guard let found = try self.frame(at: index.end.offset) else {
                index.complete()
                break
            }
            // Ends the index if the frame is truncated, as the last frame may be.
            if let byteCount = byteSource.state.byteCount, found.offset + found.header.byteCount > byteCount {
                index.complete()
                break
            }
            append(found)
        }
        return index.isComplete
    }

    /// Parses until the index contains `time`, or no byte has arrived for 50 ms. It waits, since a pipe may be
    /// refilled after a read.
    mutating func scanArrived(to time: Int) throws(DemuxerError) {
        var lastArrival = ContinuousClock.now
        while !index.isComplete, index.end.time <= time {
            let state = byteSource.state
            if state.phase == .ended || state.held.upperBound > index.end.offset + Self.margin {
                _ = try scan(to: index.end.time)
                lastArrival = ContinuousClock.now
            } else if ContinuousClock.now - lastArrival > Self.arrivalPatience {
                return
            } else {
                usleep(5_000)
            }
        }
    }

    /// The offset in bytes, and the position in ticks, at which the parsed packets end.
    package var parsedEnd: (offset: Int, time: Int) { (index.end.offset, index.end.time) }

    /// Parses the next packet. Returns false at the end.
    package mutating func parseNext() throws(DemuxerError) -> Bool { try !scan(to: index.end.time) }

    /// Returns the packet that contains `time`, or the end of the last packet if no packet contains `time`.
    mutating func indexedPlace(of time: Int) throws(DemuxerError) -> FrameIndex.Entry {
        try walk(from: index.entry(atOrBefore: time)) { _, end in end.time > time }
    }

    /// Returns the first packet at or after byte `offset`.
    mutating func indexedPlace(ofByte offset: Int) throws(DemuxerError) -> FrameIndex.Entry {
        try walk(from: index.entry(atOrBeforeByte: offset)) { begin, _ in begin.offset >= offset }
    }

    private mutating func walk(
        from entry: FrameIndex.Entry, until isThere: (_ begin: FrameIndex.Entry, _ end: FrameIndex.Entry) -> Bool
    ) throws(DemuxerError) -> FrameIndex.Entry {
        var place = entry
        while place.offset < index.end.offset, let found = try frame(at: place.offset) {
            let begin = FrameIndex.Entry(offset: found.offset, time: place.time)
            let end = FrameIndex.Entry(
                offset: found.offset + found.header.byteCount, time: place.time + found.header.duration)
            if isThere(begin, end) { return begin }
            place = end
        }
        return place
    }

    // MARK: Estimates

    /// Computes the offset of `time` with a constant bit rate; nil if the rate varies.
    mutating func constantPlace(of time: Int) throws(DemuxerError) -> FrameIndex.Entry? {
        guard let bitRate = constantBitRate, let byteCount = byteSource.state.byteCount else { return nil }
        let size = Double(first.frameCount) * Double(bitRate) / 8 / Double(first.rate)
        let number = time / first.duration
        let base = index.entries[0].offset
        // The offset of the frame without padding bytes. The real offset may differ by two bytes: a frame has whole
        // bytes, so encoders insert padding bytes, each encoder in its own pattern.
        let expected = Double(base) + Double(number) * size
        if expected > Double(byteCount) {
            let whole = Int(Double(byteCount - base) / size)
            return FrameIndex.Entry(offset: byteCount, time: whole * first.duration)
        }
        guard let found = try synchronize(from: max(Int(expected) - 2, base), followers: 1) else { return nil }
        let landed = (Double(found.offset - base) / size).rounded()
        guard found.header.bitRate == bitRate, found.header.fits(first),
            abs(Double(found.offset - base) - landed * size) <= 2
        else {
            constantBitRate = nil
            return nil
        }
        return FrameIndex.Entry(offset: found.offset, time: Int(landed) * first.duration)
    }

    /// Returns whether the bytes from the end of the index to `offset` are buffered.
    func isBuffered(upTo offset: Int) -> Bool {
        let state = byteSource.state
        return state.available.contains(index.end.offset)
            && state.available.upperBound >= min(offset, state.byteCount ?? offset)
    }

    /// Measures the density at further offsets until `time` has passed. The first 16 measurements may take one
    /// second in total, or `patience`, whatever `time` is.
    mutating func sample(for time: Duration, patience: Duration = patience) throws(DemuxerError) {
        guard let byteCount = byteSource.state.byteCount else { return }
        let span = byteCount - index.end.offset
        guard span > 4 * Self.sampledByteCount else { return }
        let begin = ContinuousClock.now
        while samples.count < Self.sampleLimit,
            ContinuousClock.now - begin
                < (samples.count < Self.usualSampleCount ? patience : time)
        {
            let place = index.end.offset + Int(Double(span - Self.sampledByteCount) * Self.fraction(samples.count + 1))
            samples.append((place, try density(at: place)))
        }
    }

    private mutating func density(at place: Int) throws(DemuxerError) -> Double {
        guard let start = try synchronize(from: place, followers: 2) else { return density }
        var (offset, time) = (start.offset, 0)
        while offset < start.offset + Self.sampledByteCount, let found = try frame(at: offset) {
            time += found.header.duration
            offset = found.offset + found.header.byteCount
        }
        return offset > start.offset ? Double(time) / Double(offset - start.offset) : density
    }

    /// The van der Corput sequence ½, ¼, ¾, ⅛, ⅝, …: evenly spread for any number of samples.
    private static func fraction(_ number: Int) -> Double {
        var (rest, place, sum) = (number, 0.5, 0.0)
        while rest > 0 {
            if rest & 1 != 0 { sum += place }
            rest >>= 1
            place /= 2
        }
        return sum
    }
}
