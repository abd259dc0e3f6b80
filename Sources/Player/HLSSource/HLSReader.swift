public import TenfourAudioCore
public import TenfourMediaSource

/// Reads the audio of an HLS stream, across discontinuities, lost segments and changes of the encoding.
///
/// Position 0 is the start of the first segment that the playlist had when it was opened. Within a discontinuity
/// positions follow the timestamps in the segments; between them the durations in the playlist.
public final class HLSReader: MediaReader {
    public let format: LPCMFormat
    public var demuxer: any Demuxer { HLSDemuxer(self) }

    private let session: HLSSession
    private var chain: HLSChain
    private var piece: Piece
    private var anchors: [Continuity: Anchor]

    /// A reader of segments that continue each other.
    fileprivate struct Piece {
        var reader: any MediaReader
        var run: HLSRun
        /// The position in the stream of the reader's position 0.
        var shift: Duration

        var position: Duration { reader.position.value + shift }
    }

    /// Segments whose timestamps continue each other.
    private struct Continuity: Hashable {
        var epoch: Int
        var discontinuity: Int
    }

    /// A timestamp and its position.
    private struct Anchor {
        /// The number of the segment.
        var number: Int
        var timestamp: Duration
        var position: Duration
    }

    /// The period of MPEG timestamps: 2³³ ticks of 1/90,000 s.
    private static let timestampPeriod = Duration.seconds(Double(1 << 33) / 90_000)
    /// The number of runs of segments in succession without audio after which playback fails.
    private static let refusalLimit = 3
    /// The number of times that a seek tries another segment: by their durations and their timestamps, segments may lie
    /// at different positions.
    private static let seekLimit = 4
    private static let seekTolerance = Duration.milliseconds(20)
    /// The longest time that a seek waits for the playlist to be loaded again.
    private static let reloadWait = Duration.seconds(3)

    init(_ session: HLSSession, format: LPCMFormat?) throws(ReaderError) {
        self.session = session
        anchors = [:]
        let chain = HLSChain(session, at: session.timeline.startPlace)
        self.chain = chain
        do throws(ReaderError) {
            guard let piece = try Self.open(chain, session, &anchors, format) else {
                throw .demuxer(.malformed(HLSPlaylistError.empty.description, kind: .unplayableList))
            }
            self.format = format ?? piece.reader.format
            self.piece = piece
            if session.timeline.playlist.start?.isPrecise == true {
                try skip(piece, to: session.timeline.startPosition)
            }
        } catch {
            chain.close()
            throw error
        }
        session.publish(chain, at: piece.position)
    }

    deinit { chain.close() }

    public var position: Estimate<Duration> { Estimate(max(piece.position, .zero), isExact: true) }

    /// Implements `MediaReader.read`. Blocks until a live segment has been announced and has arrived.
    public func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
        let now = session.now
        session.poll(at: now)
        chain.poll(at: now)
        session.publish(chain, at: piece.position)
        let requested = samples.count / format.channelCount
        var count = 0
        while count < requested {
            var room = samples.extracting((count * format.channelCount)...)
            let read = try readPiece(into: &room)
            count += read
            if read > 0 { continue }
            guard let next = try Self.open(chain, session, &anchors, format) else { break }
            piece = next
        }
        return FrameCount(count)
    }

    /// Reads from the present piece. Returns 0 at its end, or where its audio cannot be read any further.
    private func readPiece(into room: inout MutableSpan<Float>) throws(ReaderError) -> Int {
        do throws(ReaderError) {
            return try piece.reader.read(into: &room).rawValue
        } catch {
            if case .demuxer(.byteSource) = error { throw error }
            piece.run.leaveOut()
            return 0
        }
    }

    /// Opens the next segments of `chain`. Blocks until their first audio is decoded. Returns nil at the end.
    private static func open(
        _ chain: HLSChain, _ session: HLSSession, _ anchors: inout [Continuity: Anchor], _ format: LPCMFormat?
    ) throws(ReaderError) -> Piece? {
        var refusalCount = 0
        var refusal: ReaderError?
        while true {
            let hasSegment: Bool
            do throws(ByteSourceError) {
                hasSegment = try session.waitForSegment(of: chain)
            } catch {
                throw .demuxer(.byteSource(error))
            }
            guard hasSegment else {
                // After audio, an end without audio is an end.
                if let refusal, !session.hasPlayed { throw refusal }
                return nil
            }
            let run = HLSRun(session, chain)
            do throws(ReaderError) {
                let reader = try session.fetches.services.openReader(run, format)
                let shift = Self.shift(of: reader, run, session, &anchors)
                session.hasPlayed = true
                return Piece(reader: reader, run: run, shift: shift)
            } catch {
                if case .demuxer(.byteSource) = error { throw error }
                run.leaveOut()
                refusalCount += 1
                refusal = error
                if refusalCount == refusalLimit { throw error }
            }
        }
    }

    /// Returns the position in the stream of a new reader's position 0.
    private static func shift(
        of reader: any MediaReader, _ run: HLSRun, _ session: HLSSession, _ anchors: inout [Continuity: Anchor]
    ) -> Duration {
        let begin = reader.position.value
        guard let first = run.first else { return .zero }
        guard let zero = reader.demuxer.timestampOfStart ?? run.timestamp else { return first.start - begin }
        let timestamp = zero + begin
        let continuity = Continuity(epoch: first.place.epoch, discontinuity: first.segment.discontinuity)
        if let anchor = anchors[continuity] {
            // Timestamps wrap: takes the distance that is nearest to the playlist's.
            let exact = [Duration.zero, timestampPeriod, .zero - timestampPeriod]
                .map { anchor.position + timestamp - anchor.timestamp + $0 }
                .min { distance($0, first.start) < distance($1, first.start) }
            // Ignores timestamps that contradict the durations in the playlist, each of which may be rounded by half a
            // second.
            let count = min((first.place.number - anchor.number).magnitude, 1_000_000)
            let tolerance = Duration.milliseconds(500) * (Int(count) + 1)
            if let exact, distance(exact, first.start) < tolerance { return exact - begin }
        }
        if anchors.count >= 4_096 { anchors = [:] }
        anchors[continuity] = Anchor(number: first.place.number, timestamp: timestamp, position: first.start)
        return first.start - begin
    }

    private static func distance(_ one: Duration, _ other: Duration) -> Duration { max(one - other, other - one) }
}

// MARK: Seeking
extension HLSReader {
    /// Implements `MediaReader.seek`. A seek beyond the window of a live stream leads to its start or to its edge.
    public func seek(to requested: Duration) throws(ReaderError) -> Estimate<Duration> {
        do {
            try session.reloadIfOutdated(for: Self.reloadWait)
        } catch {
            throw .demuxer(.byteSource(error))
        }
        let timeline = session.timeline
        let target = min(max(requested, timeline.window.lowerBound), timeline.edge)
        // Stays where it is if that is already at the edge of a live stream.
        if !timeline.isEnded, requested >= piece.position, target <= piece.position { return position }
        guard var index = timeline.index(at: target) else { throw .demuxer(.notSeekable) }
        for attempt in 1...Self.seekLimit {
            let fresh = HLSChain(session, at: timeline.place(ofSegmentAt: index))
            do throws(ReaderError) {
                let found = try Self.open(fresh, session, &anchors, format)
                if let found, attempt < Self.seekLimit, let better = self.index(nearer: target, index, found) {
                    fresh.close()
                    index = better
                    continue
                }
                if let found { try skip(found, to: target) }
                chain.close()
                chain = fresh
                // At the end of the stream the present piece stays, and has no more to read.
                if let found { piece = found } else { piece.run.leaveOut() }
                session.publish(chain, at: piece.position)
                return position
            } catch {
                fresh.close()
                throw error
            }
        }
        return position
    }

    /// Returns the index of a segment that is nearer to `target` than the one that was opened; nil if there is none.
    private func index(nearer target: Duration, _ index: Int, _ found: Piece) -> Int? {
        let timeline = session.timeline
        // Keeps the segment after one that is lost.
        guard let place = found.run.first?.place, case .segment(index) = timeline.entry(at: place) else { return nil }
        let length = max(timeline.segments[index].duration, .milliseconds(500))
        let distance = target - found.position
        if distance < .zero - Self.seekTolerance, index > 0 {
            return max(index - max(Int((.zero - distance) / length), 1), 0)
        }
        let count = Int(distance / length)
        return count >= 2 && index + 1 < timeline.segments.count
            ? min(index + count - 1, timeline.segments.count - 1) : nil
    }

    /// Decodes and drops the audio of a piece before `target`.
    private func skip(_ piece: Piece, to target: Duration) throws(ReaderError) {
        var room = [Float](repeating: 0, count: 4_096 * format.channelCount)
        while true {
            let left = FrameCount(target - piece.position, at: format.rate).rawValue
            guard left > 0 else { return }
            var span = room.mutableSpan
            var part = span.extracting(..<(min(left, 4_096) * format.channelCount))
            guard try piece.reader.read(into: &part) > .zero else { return }
        }
    }
}

/// Describes the audio of an HLS stream.
private final class HLSDemuxer: Demuxer {
    private let inner: any Demuxer
    let duration: Estimate<Duration>?

    init(_ reader: borrowing HLSReader) {
        inner = reader.innerDemuxer
        duration = reader.duration
    }

    var track: Track { inner.track }
    var bitRate: Int? { inner.bitRate }

    func nextPacket() throws(DemuxerError) -> PacketDescription? { try inner.nextPacket() }

    /// Throws: a seek needs other segments, which only the reader can open.
    func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration> { throw .notSeekable }
}

extension HLSReader {
    fileprivate var innerDemuxer: any Demuxer { piece.reader.demuxer }

    /// The duration of a stream that has ended, by the playlist; nil for a live stream.
    fileprivate var duration: Estimate<Duration>? {
        session.timeline.isEnded ? Estimate(session.timeline.window.upperBound, isExact: true) : nil
    }
}
