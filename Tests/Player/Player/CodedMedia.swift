import Glibc
import TenfourAudioCore
import TenfourMediaSource
import TenfourSystem
import TestSupport

@testable import TenfourPlayer

/// A byte source, demuxer and reader whose samples reveal their position in the second, and whose bytes arrive when
/// the test lets them.
///
/// One byte stands for one frame, so byte counts are frame counts. The rate is that of the output; all channels are
/// equal.
final class CodedMedia: ByteSource, Demuxer, MediaReader, Sendable {
    let format: LPCMFormat
    let frameCount: Int
    private let manner: Manner
    private let lock = Locked(Contents())

    private struct Contents {
        var next = 0
        var limits = BufferLimits()
        var here = Int.max
        var isInterrupted = false
        var isStopped = false
        var isPaused = false
        var failsAt: Int?
        var scanCount = 0
    }

    /// Deviations from a fully buffered file of known duration.
    struct Manner: OptionSet, Sendable {
        var rawValue: Int
        /// The end is known only after it has been read.
        static let pipe = Self(rawValue: 1)
        /// The duration is an estimate until the file has been scanned.
        static let guessing = Self(rawValue: 2)
        /// Seeking is impossible.
        static let straight = Self(rawValue: 4)
        /// The station sends titles, but they are empty.
        static let untitled = Self(rawValue: 8)
        /// No audio arrives from the second source that is opened.
        static let lateAgain = Self(rawValue: 16)
    }

    init(seconds: Double, format: LPCMFormat, _ manner: Manner = []) {
        self.format = format
        self.manner = manner
        frameCount = Int(seconds * Double(format.rate.hertz))
    }

    /// Returns the sample of a frame.
    static func value(at frame: Int, rate: Int) -> Float { CodedPosition.value(at: frame, rate: rate) }

    /// Returns the position in its second that a sample stands for; nil for silence and fades.
    static func fraction(of value: Float) -> Double? { CodedPosition.fraction(of: value) }

    /// Lets only `seconds` of audio arrive.
    func holdBack(after seconds: Double?) {
        lock.withLock { $0.here = seconds.map { Int($0 * Double(format.rate.hertz)) } ?? .max }
    }

    func fail(at seconds: Double) { lock.withLock { $0.failsAt = Int(seconds * Double(format.rate.hertz)) } }

    var isStopped: Bool { lock.withLock { $0.isStopped } }
    var isPaused: Bool { lock.withLock { $0.isPaused } }
    var isInterrupted: Bool { lock.withLock { $0.isInterrupted } }

    // ByteSource

    var limits: BufferLimits {
        get { lock.withLock { $0.limits } }
        set { lock.withLock { $0.limits = newValue } }
    }

    var state: ByteSourceState {
        let (next, here) = lock.withLock { ($0.next, min($0.here, frameCount)) }
        return ByteSourceState(
            phase: here == frameCount && !manner.contains(.pipe) ? .ended : .receiving, byteCount: frameCount,
            available: min(next, here)..<max(here, min(next, here)), isSeekable: true, stationName: "A station",
            resource: .file(path: "coded"))
    }

    func title(at offset: Int) -> String? { manner.contains(.untitled) ? "" : nil }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int { 0 }
    func interrupt() { lock.withLock { $0.isInterrupted = true } }
    func resume() { lock.withLock { $0.isInterrupted = false } }
    func pause(_ isPaused: Bool) { lock.withLock { $0.isPaused = isPaused } }
    func stop() { lock.withLock { $0.isStopped = true } }

    // Demuxer

    let track = Track(codec: "coded", format: .mono, title: "A title")
    var duration: Estimate<Duration>? {
        let isExact = !manner.contains(.guessing) || lock.withLock { $0.scanCount } >= 5
        return Estimate(FrameCount(frameCount).duration(at: format.rate), isExact: isExact)
    }
    var bitRate: Int? { 8 * format.rate.hertz }
    func nextPacket() throws(DemuxerError) -> PacketDescription? { nil }

    func scan(for time: Duration) -> Bool {
        lock.withLock { contents in
            contents.scanCount += 1
            return contents.scanCount >= 5
        }
    }

    // ByteSource and Demuxer

    func seek(to position: Duration) -> Estimate<Duration> {
        lock.withLock { $0.next = min(FrameCount(position, at: format.rate).rawValue, frameCount) }
        return Estimate(position, isExact: true)
    }

    // MediaReader

    var demuxer: any Demuxer { self }
    var position: Estimate<Duration> {
        Estimate(FrameCount(lock.withLock { $0.next }).duration(at: format.rate), isExact: true)
    }

    func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
        let next = lock.withLock { $0.next }
        let wanted = min(samples.count / format.channelCount, frameCount - next)
        if isStopped { throw .demuxer(.byteSource(.interrupted)) }
        if let failsAt = lock.withLock({ $0.failsAt }), next >= failsAt { throw .undecodable("it is broken there") }
        while lock.withLock({ $0.here }) < next + wanted {
            if lock.withLock({ $0.isInterrupted }) { throw .demuxer(.byteSource(.interrupted)) }
            usleep(1_000)
        }
        for index in 0..<wanted * format.channelCount {
            samples[index] = Self.value(at: next + index / format.channelCount, rate: format.rate.hertz)
        }
        lock.withLock { $0.next = next + wanted }
        return FrameCount(wanted)
    }
}

/// Reads a `CodedMedia` from its beginning to its end and cannot seek.
final class StraightReader: MediaReader {
    private let feed: CodedMedia

    init(_ feed: CodedMedia) { self.feed = feed }

    var demuxer: any Demuxer { feed }
    var format: LPCMFormat { feed.format }
    var position: Estimate<Duration> { feed.position }
    func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
        try feed.read(into: &samples)
    }
    func seek(to position: Duration) throws(ReaderError) -> Estimate<Duration> { throw .demuxer(.malformed("no way")) }
}

/// Opens `CodedMedia` of the stated duration, such as `2.5` seconds. Other names cannot be opened.
final class CodedOpener: QueueItemOpener {
    private let feeds = Locked<[CodedMedia]>([])
    private let format: LPCMFormat
    private let held: Double?
    private let manner: CodedMedia.Manner

    /// With `held`, only this number of seconds arrives until the test lets more arrive.
    init(_ format: LPCMFormat, held: Double? = nil, _ manner: CodedMedia.Manner = []) {
        self.format = format
        self.manner = manner
        self.held = held
    }

    /// The sources opened, in order.
    var opened: [CodedMedia] { feeds.withLock { $0 } }

    func begin(_ item: QueueItem) throws(StreamError) -> any ByteSource {
        guard let seconds = Double(item.name) else { throw .unusable("no number") }
        let feed = CodedMedia(seconds: seconds, format: format, manner)
        if let held { feed.holdBack(after: held) }
        feeds.withLock { $0.append(feed) }
        return feed
    }

    func open(_ byteSource: any ByteSource, of item: QueueItem, as format: LPCMFormat?) throws(StreamError)
        -> OpenedMedia
    {
        guard let feed = byteSource as? CodedMedia, feed.format == format else { throw .unusable("another format") }
        if manner.contains(.lateAgain), opened.count > 1, opened[1] === feed {
            while !feed.isInterrupted, !feed.isStopped { usleep(1_000) }
            throw .read(.demuxer(.byteSource(.interrupted)))
        }
        return .media(manner.contains(.straight) ? StraightReader(feed) : feed)
    }

    func limits(atBitRate bitRate: Int) -> BufferLimits? { nil }
}
