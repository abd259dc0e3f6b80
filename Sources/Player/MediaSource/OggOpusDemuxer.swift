public import TenfourAudioCore
internal import TenfourOpusCodec

/// Demuxes Opus in Ogg (RFC 7845), also if other streams are interleaved or streams are chained, as web radio does.
///
/// Seeks exactly, by bisection. In a chain of streams it reads everything up to the position instead.
///
/// It is our own code because libopusfile cannot seek in a source without random access: of a radio station, or a server
/// without ranges, it refuses each seek (`OP_ENOSEEK`), and this one seeks in the 30 s or more that are buffered. It also
/// refuses channel mapping family 255. Otherwise both are equal: 2 requests to begin, and 2 per seek in half an hour.
public final class OggOpusDemuxer: PacketDecoding, MissingAudioReporting {
    public private(set) var track: Track

    public let decodedFormat: LPCMFormat
    public private(set) var packetStart = 0
    public private(set) var audibleFrames = 0..<0
    /// The duration of audio to decode before a position, at least 80 ms by RFC 7845 section 4.6. With 80 ms, 3 of 200
    /// seeks still differed by −27 to −30 dB from continuous decoding.
    public let preroll = Duration.milliseconds(200)

    private var pages: OggPages
    private var decoder: OpusDecoder
    private var head: OpusHead
    private var serial: UInt32
    private var packets: OggPackets
    /// The offset of the first page with audio.
    private let firstPage: Int
    /// The number of frames of all earlier streams in the chain.
    private var chained = 0
    private var isChain = false
    /// The offset and the granule of the stream's last page; nil if they are unknown.
    private let last: (offset: Int, granule: Int)?
    /// The offset of the present stream's first page with audio. Earlier streams of the chain lie before it.
    private var linkStart: Int
    public private(set) var reach: Duration?

    private var nextPage: Int
    private var current = OggPackets.Packet()
    private var hasEnded = false
    private var measured: Int?
    private var isContiguous = true
    var missing = MissingAudio()
    /// The size that was stated when the source was opened, in bytes; nil if it has no end.
    private let openedByteCount: Int?
    private var parsed = (byteCount: 0, frames: 0)

    /// The largest number of bytes to search for the next page. If no page begins in them, the stream counts as ended.
    private static let gapLimit = 1 << 22
    /// The length of a usual page, in bytes: one second of audio. Few pages are longer.
    private static let usualPage = 1 << 14

    init(_ window: consuming ByteWindow, channelCount: Int?) throws(ReaderError) {
        do {
            var pages = OggPages(window)
            let state = pages.byteSource.state
            openedByteCount = state.isLive ? nil : state.byteCount
            let (head, tags, serial, end) = try Self.readHeaders(&pages, from: 0)
            self.head = head
            self.serial = serial
            firstPage = end
            nextPage = end
            linkStart = end
            last = try Self.lastPage(&pages, of: serial)
            isChain = last == nil && pages.byteSource.state.isSeekable
            packets = OggPackets(serial: serial)
            self.pages = pages
            track = Track(codec: "opus", format: LPCMFormat(channelCount: head.channelCount))
            track.adopt(tags)
        } catch { throw .demuxer(error) }
        decodedFormat = LPCMFormat(channelCount: min(channelCount ?? head.channelCount, 2))
        do { decoder = try OpusDecoder(channelCount: decodedFormat.channelCount) } catch {
            throw .undecodable("\(error)")
        }
    }

    public var bitRate: Int? { parsed.frames > 0 ? parsed.byteCount * 8 * 48_000 / parsed.frames : nil }

    public var duration: Estimate<Duration>? {
        if let measured { return Estimate(FrameCount(measured).duration(), isExact: true) }
        if let last, let origin = packets.origin {
            return Estimate(FrameCount(max(last.granule - origin - head.preSkip, 0)).duration(), isExact: true)
        }
        guard let byteCount = pages.byteSource.state.byteCount, parsed.byteCount > 0 else { return nil }
        let frames = Double(parsed.frames) * Double(byteCount - firstPage) / Double(parsed.byteCount)
        return Estimate(FrameCount(Int(min(frames, 1e15))).duration(), isExact: false)
    }

    // MARK: Packets

    public func nextPacket() throws(DemuxerError) -> PacketDescription? {
        while packets.pending.isEmpty {
            guard try readNextPage() else {
                if isContiguous { measured = max(frame(at: packets.granule), 0) }
                findEnd()
                return nil
            }
        }
        current = packets.pending.removeFirst()
        packetStart = frame(at: current.start)
        let lead = min(max(chained - packetStart, 0), current.length)
        audibleFrames = lead..<current.length
        parsed.byteCount += current.bytes.count
        parsed.frames += current.frameCount
        return PacketDescription(
            offset: current.offset, byteCount: current.bytes.count, frameCount: FrameCount(current.frameCount))
    }

    /// Returns the number of the track's frame that lies at `granule` of the present stream.
    private func frame(at granule: Int?) -> Int { chained + (granule ?? 0) - (packets.origin ?? 0) - head.preSkip }

    public func decode(into samples: inout MutableSpan<Float>) -> Int? {
        guard let frames = try? decoder.decode(current.bytes.span, into: &samples).rawValue else { return nil }
        if head.gain != 1 {
            for index in 0..<frames * decodedFormat.channelCount { samples[index] *= head.gain }
        }
        return frames
    }

    /// Reads the packets of the next page. Returns false at the end.
    private func readNextPage() throws(DemuxerError) -> Bool {
        while !hasEnded {
            let page: OggPage?
            do { page = try pages.page(from: nextPage, before: nextPage + Self.gapLimit) } catch {
                throw .byteSource(error)
            }
            guard let page else { break }
            if page.isFirst, page.offset > firstPage {
                try startChainedStream(at: page)
                continue
            }
            nextPage = page.end
            guard page.serial == serial else { continue }
            unsafe packets.append(page, pages.raw)
            if let hole = packets.hole, pages.byteSource.hasEnd { addHole(hole) }
            return true
        }
        hasEnded = true
        return false
    }

    /// Records the end that a server has stated and not sent. A file that ends within a page is a recording that was
    /// stopped: Ogg states no length.
    private func findEnd() {
        let state = pages.byteSource.state
        guard !state.isLive, let byteCount = state.byteCount, byteCount > firstPage else { return }
        let stated = openedByteCount ?? byteCount
        guard byteCount <= stated else { return }
        let end = FrameCount(max(frame(at: packets.granule), 0)).duration()
        if byteCount < stated, !packets.hasLast {
            let share = Double(stated - firstPage) / Double(byteCount - firstPage)
            missing.endEarly(at: end, share: share)
        }
    }

    private func addHole(_ hole: Range<Int>) {
        missing.addHole(
            at: FrameCount(max(frame(at: hole.lowerBound), 0)).duration(), lasting: FrameCount(hole.count).duration())
    }

    /// Begins the next stream of a chain. Throws if it has no Opus.
    private func startChainedStream(at page: OggPage) throws(DemuxerError) {
        let next: (head: OpusHead, tags: VorbisComments, serial: UInt32, end: Int)
        do { next = try Self.readHeaders(&pages, from: page.offset) } catch {
            if case .byteSource = error { throw error }
            hasEnded = true
            guard case .malformed(_, kind: .notAudio) = error else { throw error }
            throw .malformed(
                "the stream goes on with another codec than Opus, which is not played from a pipe or a station: save it to a file first",
                kind: .unsupportedFormat)
        }
        // Limits the number of frames, since each stream of the chain may claim any length.
        chained = min(max(frame(at: packets.granule), chained), OggPage.lastGranule)
        isChain = true
        (head, serial, nextPage) = (next.head, next.serial, next.end)
        linkStart = next.end
        packets = OggPackets(serial: next.serial)
        track.adopt(next.tags)
        decoder.reset()
    }

    // MARK: Seeking

    public func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration> {
        let state = pages.byteSource.state
        let requested = FrameCount(max(position, .zero)).rawValue
        reach = nil
        do {
            if !state.isSeekable {
                if try !seekInBuffer(to: requested) {
                    guard state.isRepeatable else { throw DemuxerError.notSeekable }
                    isContiguous = false
                    try scanFromStart(to: requested)
                }
            } else if packets.origin == nil || isChain {
                isContiguous = false
                try scanFromStart(to: requested)
            } else {
                isContiguous = false
                try bisect(to: requested + (packets.origin ?? 0) + head.preSkip)
            }
        } catch let error as ByteSourceError { throw .byteSource(error) } catch let error as DemuxerError {
            throw error
        } catch {
            // The code above throws no other errors, but the compiler cannot infer this for two error types.
        }
        decoder.reset()
        missing = MissingAudio()
        let begin = packets.pending.first.map { frame(at: $0.start) } ?? requested
        return Estimate(max(FrameCount(begin).duration(), .zero), isExact: true)
    }

    private func restart(at offset: Int, granule: Int?) {
        (nextPage, hasEnded) = (offset, false)
        packets.restart(granule: granule)
    }

    /// Reads from the start up to `requested`. This also works in a chained stream, but is slow.
    private func scanFromStart(to requested: Int) throws {
        let (head, tags, serial, end) = try Self.readHeaders(&pages, from: 0)
        (self.head, self.serial, chained) = (head, serial, 0)
        packets = OggPackets(serial: serial)
        track.adopt(tags)
        linkStart = end
        restart(at: end, granule: nil)
        while try readNextPage() {
            guard let last = packets.pending.last else { continue }
            if frame(at: last.start + last.frameCount) > requested { break }
            packets.pending = []
        }
    }

    /// Seeks within the bytes that have arrived: forward, or back within the buffer. Returns false if `requested` lies
    /// before the buffer.
    private func seekInBuffer(to requested: Int) throws -> Bool {
        if packets.pending.isEmpty, try !readNextPage() { return true }
        guard let next = packets.pending.first else { return false }
        if requested < frame(at: next.start) {
            let begin = max(pages.byteSource.state.held.lowerBound, linkStart)
            // Continues after the first buffered page, since the granule at which a page begins is known only from the
            // page before it.
            let before = begin > linkStart ? try audioPage(from: begin, before: nextPage) : nil
            guard begin == linkStart || before != nil else { return false }
            if let granule = before?.granule, frame(at: granule) > requested { return false }
            isContiguous = false
            restart(at: before?.end ?? linkStart, granule: before?.granule)
            decoder.reset()
            guard try readNextPage() else { return true }
        }
        while true {
            if let last = packets.pending.last, frame(at: last.start + last.frameCount) > requested { return true }
            let state = pages.byteSource.state
            let isHere = state.phase == .ended || state.held.upperBound >= nextPage + Self.usualPage
            guard isHere || state.isRepeatable else {
                reach = packets.pending.last.map { FrameCount(max(frame(at: $0.start), 0)).duration() }
                return true
            }
            packets.pending = []
            guard try readNextPage() else { return true }
        }
    }

    /// Finds the last page that ends at or before the granule `requested`.
    private func bisect(to requested: Int) throws {
        var low = (offset: firstPage, granule: packets.origin ?? 0)
        var high = (offset: pages.byteSource.state.byteCount ?? firstPage, granule: last?.granule ?? requested + 1)
        var tries = 0
        while high.offset - low.offset > 2 * OggPage.longest, tries < 64 {
            // Two of three guesses assume the mean bit rate and are slightly early. The third is in the middle, which
            // limits the number of steps.
            let share = Double(max(requested - low.granule, 0)) / Double(max(high.granule - low.granule, 1))
            let distance = high.offset - low.offset
            let guess =
                tries % 3 < 2
                ? min(max(Int(Double(distance) * share) - OggPage.longest / 2, 0), distance - 1) : distance / 2
            tries += 1
            let middle = low.offset + guess
            if let page = try audioPage(from: middle, before: high.offset), let granule = page.granule {
                if granule <= requested { low = (page.end, granule) } else { high = (middle, granule) }
            } else {
                high.offset = middle
            }
            if guess == 0, high.offset == middle { break }
        }
        var place = low
        while let page = try audioPage(from: place.offset, before: .max), let granule = page.granule,
            granule <= requested
        {
            place = (page.end, granule)
            if page.isLast { break }
        }
        restart(at: place.offset, granule: place.offset == firstPage ? nil : place.granule)
    }

    private func audioPage(from offset: Int, before limit: Int) throws -> OggPage? {
        var place = offset
        while let page = try pages.page(from: place, before: min(limit, place + Self.gapLimit)) {
            if page.serial == serial, page.granule != nil { return page }
            place = page.end
        }
        return nil
    }
}

// MARK: Headers

extension Track {
    fileprivate mutating func adopt(_ tags: VorbisComments) {
        (title, artist, album) = (tags.title, tags.artist, tags.album)
        (chapters, pictures, gain) = (tags.chapters, tags.pictures, tags.gain)
    }
}

extension OggOpusDemuxer {
    /// Reads the headers of the streams that begin at `offset`. The identification headers of all interleaved streams
    /// come first, then the tags of each before its audio.
    private static func readHeaders(
        _ pages: inout OggPages, from offset: Int
    ) throws(DemuxerError) -> (head: OpusHead, tags: VorbisComments, serial: UInt32, end: Int) {
        var head: (OpusHead, serial: UInt32)?
        var tags = VorbisComments()
        var place = offset
        while true {
            let page: OggPage?
            do { page = try pages.page(from: place, before: place + gapLimit) } catch { throw .byteSource(error) }
            guard let page else {
                throw .malformed("the file ends or is damaged before its first audio: download it again")
            }
            place = page.end
            let body = pages.body
            if page.isFirst {
                if head == nil, body.holds("OpusHead", at: 0) { head = (try OpusHead(body), page.serial) }
                continue
            }
            guard let head else {
                throw .malformed(
                    "this Ogg file contains no Opus audio: convert it with ffmpeg first",
                    kind: .notAudio)
            }
            guard page.serial == head.serial else { continue }
            tags.append(body)
            guard tags.isValid else {
                throw .malformed(
                    "the tags of this file are damaged: download it again, or convert it with ffmpeg first")
            }
            if page.segments.contains(where: { $0 < 255 }) { return (head.0, tags, head.serial, place) }
        }
    }

    /// Finds the last page of the stream; nil if the source is not seekable, or if another stream begins near its end.
    private static func lastPage(
        _ pages: inout OggPages, of serial: UInt32
    ) throws(DemuxerError) -> (offset: Int, granule: Int)? {
        guard pages.byteSource.state.isSeekable, let byteCount = pages.byteSource.state.byteCount else { return nil }
        var found: (offset: Int, granule: Int)?
        do {
            // The second attempt searches further back: with interleaved streams, the last pages may belong to another
            // stream.
            for reach in [OggPage.longest, 8 * OggPage.longest] {
                var place = max(byteCount - reach, 0)
                while let page = try pages.page(from: place, before: byteCount) {
                    if page.isFirst, page.serial != serial, page.offset > 0 { return nil }
                    if page.serial == serial, let granule = page.granule { found = (page.offset, granule) }
                    place = page.end
                }
                if found != nil { break }
            }
        } catch { throw .byteSource(error) }
        return found
    }
}
