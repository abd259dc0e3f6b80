internal import Glibc
internal import TenfourAudioCore
package import TenfourMediaSource

/// Finds frames in a byte source and indexes them from the start on.
package struct FrameStream: ~Copyable {
    package typealias Found = (offset: Int, header: FrameHeader)

    let byteSource: any ByteSource
    var window: ByteWindow
    /// The offset of the first frame. This frame may contain a VBR header instead of audio.
    package let begin: Int
    package let first: FrameHeader
    var index: FrameIndex
    /// The measurements of the frame density, in frames per byte, each with its offset. The duration and seek positions
    /// are estimated from them.
    private(set) var samples: [(offset: Int, density: Double)] = []
    /// The bit rate in bit/s if all frames so far had the same bit rate; otherwise nil.
    private var constantBitRate: Int?

    /// The largest number of bytes to search for the first frame. If there is no frame in them, the file is refused.
    private static let beginningLimit = 1 << 20
    /// The largest number of bytes to search for the next frame after a gap. If there is no frame in them, the stream
    /// counts as ended.
    private static let gapLimit = 1 << 24
    /// The largest number of elements of `samples`: measurements of the frame density.
    private static let sampleLimit = 64
    /// The number of bytes that are parsed for one measurement of the frame density.
    private static let sampledByteCount = 8_192
    /// The number of consecutive frames with equal bit rate after which the bit rate is assumed constant.
    static let trustedPacketCount = 50
    /// The largest number of buffered bytes to scan for one seek: 64 MiB. An hour of MP3 fits into it, and is scanned
    /// in some tens of milliseconds.
    static let scannedByteCount = 1 << 26
    /// The number of measurements of the frame density that are always attempted, up to the time limit `patience`. Each
    /// may need a request.
    private static let usualSampleCount = 16
    /// The time limit for the first `usualSampleCount` measurements of the frame density, in total.
    private static let patience = Duration.seconds(1)
    /// The number of bytes that must be buffered beyond the last parsed frame when the next frame is parsed.
    private static let margin = 2_048
    /// The time without new bytes after which the bytes that have arrived count as all there are. A pipe is empty for a
    /// moment after each read, until its writer refills it.
    private static let arrivalPatience = Duration.milliseconds(50)

    /// Finds the first frame at or after `start`, and continues reading from `window`.
    package init(_ given: consuming ByteWindow, from start: Int) throws(DemuxerError) {
        var window = given
        guard
            let found = try Self.search(
                &window, from: start, upTo: start + Self.beginningLimit, like: nil, followers: 2)
        else {
            throw .malformed(
                "this is not a known audio format, or the file is damaged: convert it with ffmpeg, or download it again",
                kind: .unknownFormat)
        }
        byteSource = window.byteSource
        self.window = window
        begin = found.offset
        first = found.header
        constantBitRate = first.bitRate
        index = FrameIndex(from: begin, spacing: first.rate)
    }

    /// Reads the VBR header in the first frame; nil if it has none. A frame with a VBR header carries no audio.
    package mutating func readVBRHeader() throws(DemuxerError) -> VBRHeader? {
        let header = first
        try load(at: begin, count: header.byteCount)
        guard let vbr = VBRHeader(window.bytes, header) else { return nil }
        index = FrameIndex(from: begin + header.byteCount, spacing: header.rate)
        if !vbr.isConstantRate { constantBitRate = nil }
        // Takes the bit rate from the frame after the header's frame, whose own bit rate may differ.
        if vbr.isConstantRate, let next = try frame(at: index.end.offset) { constantBitRate = next.header.bitRate }
        return vbr
    }

    /// The mean number of frames per byte so far.
    var density: Double {
        let known = index.end
        if known.frame > 0, known.offset > begin {
            return Double(known.frame) / Double(known.offset - index.entries[0].offset)
        }
        return Double(first.frameCount) / Double(first.byteCount)
    }

    /// Improves the first estimate of the duration by the buffered bytes, without blocking.
    mutating func estimateFromBuffer() throws(DemuxerError) {
        guard byteSource.state.isSeekable, let byteCount = byteSource.state.byteCount else { return }
        if isBuffered(upTo: byteCount) {
            try sample(for: .milliseconds(5))
        } else {
            let end = index.end.frame + 4 * first.rate
            while index.end.frame < end, isBuffered(upTo: index.end.offset + 2 * FrameHeader.longest), !index.isComplete
            {
                _ = try scan(to: index.end.frame)
            }
        }
    }

    // MARK: Finding frames

    /// Returns the frame at `offset`, or the first one after it; nil at the end.
    package mutating func frame(at offset: Int) throws(DemuxerError) -> Found? {
        try load(at: offset, count: FrameHeader.headerByteCount)
        if window.bytes.isEmpty { return nil }
        if let header = FrameHeader(window.bytes), header.fits(first) { return (offset, header) }
        return try synchronize(from: offset + 1, followers: 1)
    }

    mutating func synchronize(from offset: Int, followers: Int) throws(DemuxerError) -> Found? {
        try Self.search(&window, from: offset, upTo: offset + Self.gapLimit, like: first, followers: followers)
    }

    /// Searches from `start` for the first confirmed frame, and returns nil if there is none before `limit`. A frame is
    /// confirmed if `followers` further frames follow it without a gap, or if fewer follow and the source then ends.
    private static func search(
        _ window: inout ByteWindow, from start: Int, upTo limit: Int, like first: FrameHeader?, followers: Int
    ) throws(DemuxerError) -> Found? {
        var offset = start
        while offset < limit {
            do { try window.load(at: offset, count: FrameHeader.headerByteCount) } catch { throw .byteSource(error) }
            guard window.bytes.count == FrameHeader.headerByteCount else { return nil }
            if let header = FrameHeader(window.bytes), header.frameCount > 0, first.map(header.fits) ?? true {
                var (place, isConfirmed) = (offset + header.byteCount, true)
                for _ in 0..<followers {
                    do { try window.load(at: place, count: FrameHeader.headerByteCount) } catch {
                        throw .byteSource(error)
                    }
                    // Ends the search at an ID3v1 tag, which follows the audio.
                    if window.bytes.holds("TAG", at: 0) { break }
                    if window.bytes.isEmpty {
                        let isKnown = first != nil || place > offset + header.byteCount
                        isConfirmed = isKnown ? true : try isWhole(&window, offset, start, place)
                        break
                    }
                    guard let next = FrameHeader(window.bytes), next.fits(header) else {
                        isConfirmed = false
                        break
                    }
                    place += next.byteCount
                }
                if isConfirmed { return (offset, header) }
            }
            offset += 1
        }
        return nil
    }

    /// Returns whether a single frame fills the source from `start` on. Bytes that are no audio may look like the
    /// header of a frame, but such a frame usually extends beyond the end of the bytes.
    private static func isWhole(
        _ window: inout ByteWindow, _ offset: Int, _ start: Int, _ end: Int
    ) throws(DemuxerError) -> Bool {
        guard offset == start else { return false }
        do { try window.load(at: end - 1, count: 1) } catch { throw .byteSource(error) }
        return !window.bytes.isEmpty
    }

    mutating func load(at offset: Int, count: Int) throws(DemuxerError) {
        do { try window.load(at: offset, count: count) } catch { throw .byteSource(error) }
    }

    // MARK: Index

    mutating func append(_ found: Found) {
        index.append(offset: found.offset, byteCount: found.header.byteCount, frameCount: found.header.frameCount)
        if found.header.bitRate != constantBitRate { constantBitRate = nil }
    }

    /// Parses from the end of the index until it contains `frame`, or up to byte `limit` or `deadline`. Returns true
    /// when nothing is left to parse.
    mutating func scan(
        to frame: Int, before limit: Int = .max, until deadline: ContinuousClock.Instant? = nil
    ) throws(DemuxerError) -> Bool {
        var steps = 0
        while !index.isComplete, index.end.frame <= frame, index.end.offset < limit {
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

    /// Parses until the index contains `frame`, or no byte has arrived for 50 ms. It waits, since a pipe may be
    /// refilled after a read.
    mutating func scanArrived(to frame: Int) throws(DemuxerError) {
        var lastArrival = ContinuousClock.now
        while !index.isComplete, index.end.frame <= frame {
            let state = byteSource.state
            if state.phase == .ended || state.held.upperBound > index.end.offset + Self.margin {
                _ = try scan(to: index.end.frame)
                lastArrival = ContinuousClock.now
            } else if ContinuousClock.now - lastArrival > Self.arrivalPatience {
                return
            } else {
                usleep(5_000)
            }
        }
    }

    /// The offset in bytes, and the number of frames, at which the parsed packets end.
    package var parsedEnd: (offset: Int, frame: Int) { (index.end.offset, index.end.frame) }

    /// Parses the next packet. Returns false at the end.
    package mutating func parseNext() throws(DemuxerError) -> Bool { try !scan(to: index.end.frame) }

    /// Returns the packet that contains `frame`, or the end of the last packet if no packet contains `frame`.
    mutating func indexedPlace(of frame: Int) throws(DemuxerError) -> FrameIndex.Entry {
        try walk(from: index.entry(atOrBefore: frame)) { _, end in end.frame > frame }
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
            let begin = FrameIndex.Entry(offset: found.offset, frame: place.frame)
            let end = FrameIndex.Entry(
                offset: found.offset + found.header.byteCount, frame: place.frame + found.header.frameCount)
            if isThere(begin, end) { return begin }
            place = end
        }
        return place
    }

    // MARK: Estimates

    /// Computes the offset of `frame` with a constant bit rate; nil if the rate varies.
    mutating func constantPlace(of frame: Int) throws(DemuxerError) -> FrameIndex.Entry? {
        guard let bitRate = constantBitRate, let byteCount = byteSource.state.byteCount else { return nil }
        let size = Double(first.frameCount) * Double(bitRate) / 8 / Double(first.rate)
        let number = frame / first.frameCount
        let base = index.entries[0].offset
        // The offset of the frame without padding bytes. The real offset may differ by two bytes: a frame has whole
        // bytes, so encoders insert padding bytes, each encoder in its own pattern.
        let expected = Double(base) + Double(number) * size
        if expected > Double(byteCount) {
            let whole = Int(Double(byteCount - base) / size)
            return FrameIndex.Entry(offset: byteCount, frame: whole * first.frameCount)
        }
        guard let found = try synchronize(from: max(Int(expected) - 2, base), followers: 1) else { return nil }
        let landed = (Double(found.offset - base) / size).rounded()
        guard found.header.bitRate == bitRate, abs(Double(found.offset - base) - landed * size) <= 2 else {
            constantBitRate = nil
            return nil
        }
        return FrameIndex.Entry(offset: found.offset, frame: Int(landed) * first.frameCount)
    }

    /// Returns whether the bytes from the end of the index to `offset` are buffered.
    func isBuffered(upTo offset: Int) -> Bool {
        let state = byteSource.state
        return state.available.contains(index.end.offset)
            && state.available.upperBound >= min(offset, state.byteCount ?? offset)
    }

    /// Measures the frame density at further offsets until `time` has passed. The first 16 measurements may take one
    /// second in total, whatever `time` is.
    mutating func sample(for time: Duration) throws(DemuxerError) {
        guard let byteCount = byteSource.state.byteCount else { return }
        let span = byteCount - index.end.offset
        guard span > 4 * Self.sampledByteCount else { return }
        let begin = ContinuousClock.now
        while samples.count < Self.sampleLimit,
            ContinuousClock.now - begin
                < (samples.count < Self.usualSampleCount ? Self.patience : time)
        {
            let place = index.end.offset + Int(Double(span - Self.sampledByteCount) * Self.fraction(samples.count + 1))
            samples.append((place, try density(at: place)))
        }
    }

    private mutating func density(at place: Int) throws(DemuxerError) -> Double {
        guard let start = try synchronize(from: place, followers: 2) else { return density }
        var (offset, frames) = (start.offset, 0)
        while offset < start.offset + Self.sampledByteCount, let found = try frame(at: offset) {
            frames += found.header.frameCount
            offset = found.offset + found.header.byteCount
        }
        return offset > start.offset ? Double(frames) / Double(offset - start.offset) : density
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
