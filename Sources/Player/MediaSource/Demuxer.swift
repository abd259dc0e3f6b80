public import TenfourAudioCore

/// The second of four stages: splits bytes into packets, in file order and on demand. Pulls from a `ByteSource`.
///
/// For one thread at a time.
public protocol Demuxer: AnyObject {
    /// Describes the audio. Known as soon as the demuxer exists, since its initializer waits for it.
    var track: Track { get }

    /// The duration of the audio; nil if the stream has no known end.
    var duration: Estimate<Duration>? { get }

    /// The mean bit rate of the packets so far, in bit/s; nil before the first packet.
    var bitRate: Int? { get }

    /// Whether `bitRate` is the mean of all packets, and not only of those so far.
    var isBitRateExact: Bool { get }

    /// Returns the offset, size and duration of the next packet, or nil at the end. The packet's bytes belong to the
    /// reader until the next call.
    func nextPacket() throws(DemuxerError) -> PacketDescription?

    /// Seeks to the packet that contains `position`, or to the start or end if `position` lies outside. Returns the
    /// start of the next packet. It is exact with an index or a constant bit rate; without these it is an estimate,
    /// which further parsing refines. If seeking is impossible, throws and leaves the position unchanged.
    func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration>

    /// The position that the last seek reached, if the bytes up to the requested position have not arrived yet; nil if
    /// the seek reached the requested position.
    var reach: Duration? { get }

    /// The timestamp that the container has at position 0; nil if it has no timestamps, or none was read yet. Bytes that
    /// were cut out of a longer recording may begin at any timestamp.
    var timestampOfStart: Duration? { get }

    /// Scans ahead for about `time`, independently of `nextPacket`, so that estimated positions and the duration become
    /// exact. Call it when idle and the bytes are buffered, since missing bytes are fetched. Returns true when nothing
    /// is left to scan.
    func scan(for time: Duration) throws(DemuxerError) -> Bool
}

extension Demuxer {
    /// Returns true: the default for demuxers without estimates.
    public func scan(for time: Duration) throws(DemuxerError) -> Bool { true }

    /// Returns false: the default for demuxers that know only the packets so far.
    public var isBitRateExact: Bool { false }

    /// Returns nil: the default for containers without timestamps.
    public var timestampOfStart: Duration? { nil }

    /// Returns nil: the default for demuxers that seek to the requested position or throw.
    public var reach: Duration? { nil }
}

public enum DemuxerError: Error, Equatable, Sendable {
    case byteSource(ByteSourceError)
    /// The bytes are not audio, or are damaged: a sentence with its remedy.
    case malformed(String, kind: MediaErrorKind = .damaged)

    package static var notSeekable: Self {
        .malformed(
            "this stream does not support seeking: wait until playback reaches the position, or save the stream to a file first",
            kind: .notSeekable)
    }
}
