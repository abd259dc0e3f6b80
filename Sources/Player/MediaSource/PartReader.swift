package import TenfourAudioCore

/// Reads a part of a file as if it were a file of its own, exact to the sample: no frame before its start and none
/// after its end.
///
/// For one thread at a time.
package final class PartReader: MediaReader {
    package let part: MediaPart
    private let base: any MediaReader
    private let parted: PartDemuxer

    /// Seeks to the start of `part` in `base`, which nothing else may use from now on. Blocks.
    package init(_ base: any MediaReader, part: MediaPart) throws(ReaderError) {
        if part.start > .zero { _ = try base.seek(to: part.start) }
        self.base = base
        self.part = part
        parted = PartDemuxer(base.demuxer, part: part)
    }

    private init(continuing reader: PartReader, with part: MediaPart) {
        base = reader.base
        self.part = part
        parted = PartDemuxer(base.demuxer, part: part)
    }

    /// Returns a reader for `next`, a part of the same file that begins where this one ends; nil if it begins
    /// elsewhere. It reads on where this reader stopped, so no frame is lost or repeated. This reader must have
    /// reached its end, and must not be used any more.
    package func continued(with next: MediaPart) -> PartReader? {
        part.end == next.start ? PartReader(continuing: self, with: next) : nil
    }

    package var demuxer: any Demuxer { parted }
    package var format: LPCMFormat { base.format }
    package var sampleWidth: SampleWidth? { base.sampleWidth }

    package var position: Estimate<Duration> {
        let position = base.position
        return Estimate(max(position.value - part.start, .zero), isExact: position.isExact)
    }

    /// The range that the part takes of the whole file, in fractions; nil while the file's duration is unknown.
    package var share: Range<Double>? {
        guard let whole = base.demuxer.duration?.value, whole > .zero else { return nil }
        let start = min(part.start / whole, 1)
        return start..<max(min((part.end ?? whole) / whole, 1), start)
    }

    package func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
        let channels = format.channelCount
        let wanted = samples.count / channels
        let left = framesLeft
        if left >= wanted { return try base.read(into: &samples) }
        guard left > 0 else { return .zero }
        // The last frames of the part. They are read into a buffer of their own, since the reader fills what it gets.
        var last = [Float](repeating: 0, count: left * channels)
        var room = last.mutableSpan
        let count = try base.read(into: &room)
        for index in 0..<count.rawValue * channels { samples[index] = last[index] }
        return count
    }

    /// The number of frames up to the end of the part; a large number if it ends with the file.
    private var framesLeft: Int {
        guard let end = part.end else { return .max }
        return FrameCount(end, at: format.rate).rawValue - FrameCount(base.position.value, at: format.rate).rawValue
    }

    package func seek(to position: Duration) throws(ReaderError) -> Estimate<Duration> {
        let reached = try base.seek(to: parted.place(of: position))
        return Estimate(max(reached.value - part.start, .zero), isExact: reached.isExact)
    }
}

/// The demuxer of a file, seen from one of its parts.
private final class PartDemuxer: Demuxer {
    private let base: any Demuxer
    private let part: MediaPart

    init(_ base: any Demuxer, part: MediaPart) {
        self.base = base
        self.part = part
    }

    /// Returns the position in the file of a position in the part.
    func place(of position: Duration) -> Duration {
        let place = part.start + max(position, .zero)
        return part.end.map { min(place, $0) } ?? place
    }

    /// The tags of the part. The file's own tags describe the whole album.
    var track: Track {
        var track = base.track
        track.chapters = track.chapters.within(part)
        (track.title, track.artist) = (part.title ?? "Track \(part.number)", part.artist ?? track.artist)
        return track
    }

    var duration: Estimate<Duration>? {
        if let end = part.end { return Estimate(end - part.start, isExact: true) }
        return base.duration.map { Estimate(max($0.value - part.start, .zero), isExact: $0.isExact) }
    }

    var bitRate: Int? { base.bitRate }
    var isBitRateExact: Bool { base.isBitRateExact }
    var reach: Duration? { base.reach.map { max($0 - part.start, .zero) } }

    func nextPacket() throws(DemuxerError) -> PacketDescription? { try base.nextPacket() }

    func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration> {
        let start = try base.seek(to: place(of: position))
        return Estimate(max(start.value - part.start, .zero), isExact: start.isExact)
    }

    func scan(for time: Duration) throws(DemuxerError) -> Bool { try base.scan(for: time) }
}
