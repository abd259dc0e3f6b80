public import TenfourAudioCore

/// The second step: bytes to packets with descriptions, in the order they lie, as they are asked for. Pulls from a `ByteSource`.
///
/// One thread at a time.
public protocol Demuxer: AnyObject {
    /// What the sound is. Known from the beginning: whoever makes a parser waits for that.
    var track: Track { get }

    /// nil where the other side knows no end.
    var duration: Estimate<Duration>? { get }

    /// Bits a second, calculated from the packets so far; nil before the first.
    var bitRate: Int? { get }

    /// The next packet: where it lies in the resource and how many frames of the track's rate it holds. nil at the end. Its bytes
    /// are the reader's until the next call.
    func nextPacket() throws(DemuxerError) -> PacketDescription?

    /// Goes to the packet in which `position` lies, or to the beginning or end where it lies before or behind. Returns where the
    /// next packet begins: exact where there is an index or the bit rate is constant, else a guess that parsing on refines.
    /// What cannot go there says so before anything has moved.
    func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration>

    /// How far the last seek went, where that is less than was asked for: the bytes come once and in order, and no more
    /// of them have arrived. nil where it went all the way.
    var reach: Duration? { get }

    /// Looks ahead for about `time`, apart from what `nextPacket` gives, so that places and the duration become exact where they
    /// are guesses. For when there is nothing else to do, and the bytes are here: others would be fetched for it. True when
    /// nothing is left to look at.
    func scan(for time: Duration) throws(DemuxerError) -> Bool
}

extension Demuxer {
    /// For parsers that never guess.
    public func scan(for time: Duration) throws(DemuxerError) -> Bool { true }

    /// nil, for parsers whose seeks go all the way or throw.
    public var reach: Duration? { nil }
}

/// What a resource sounds like and is called.
public struct Track: Equatable, Sendable {
    /// `mp3`, `aac`, `flac`, `opus`, …
    public var codec: String
    /// As it is coded.
    public var format: LPCMFormat
    /// Control characters are replaced in both.
    public var title: String?
    public var artist: String?

    public init(codec: String, format: LPCMFormat, title: String? = nil, artist: String? = nil) {
        self.codec = codec
        self.format = format
        self.title = title
        self.artist = artist
    }
}

public enum DemuxerError: Error, Equatable, Sendable {
    case download(ByteSourceError)
    /// What is there is not sound, or not any more: a sentence with its remedy.
    case malformed(String)

    package static var noWayThere: Self {
        .malformed("this side cannot go to another place in what it sends: wait for it, or keep it in a file first")
    }
}
