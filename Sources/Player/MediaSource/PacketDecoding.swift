public import TenfourAudioCore

/// A demuxer that also decodes its packets. Conform to it to add a format. `PacketReader` makes a reader of it, which
/// converts rate and channels and seeks to the sample.
///
/// For one thread at a time.
public protocol PacketDecoding: Demuxer {
    /// The format of the samples that `decode` writes. It does not change.
    var decodedFormat: LPCMFormat { get }
    /// The width of the recording's samples; nil for a lossy codec.
    var sampleWidth: SampleWidth? { get }
    /// The position of the last packet's first frame, in decoded frames from the start of the track.
    var packetStart: Int { get }
    /// The range of the last packet's frames that are played, without the decoder's start-up and the padding at the
    /// end. By default all frames are played.
    var audibleFrames: Range<Int> { get }
    /// The duration of audio to decode before a position, so that the output is exact from this position on. Zero by
    /// default.
    var preroll: Duration { get }

    /// Decodes the last packet into the front of `samples`, interleaved, which holds 5 760 frames. Returns the number of
    /// frames; nil if the packet is damaged, which is then skipped and counted.
    func decode(into samples: inout MutableSpan<Float>) -> Int?
}

extension PacketDecoding {
    /// The format of the track.
    public var decodedFormat: LPCMFormat { track.format }
    /// nil: unknown.
    public var duration: Estimate<Duration>? { nil }
    /// nil: unknown.
    public var bitRate: Int? { nil }

    /// Throws: the default for formats that are read in order only.
    public func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration> { throw .notSeekable }

    public var audibleFrames: Range<Int> { 0..<Int.max }
    public var preroll: Duration { .zero }
}

extension PacketDecoding {
    /// Returns nil: the default for lossy codecs.
    public var sampleWidth: SampleWidth? { nil }
}
