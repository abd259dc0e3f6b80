public import TenfourAudioCore

/// The third of four stages: decodes packets to LPCM at the output's rate and channel count, on demand. Pulls from a
/// `Demuxer`.
///
/// For one thread at a time.
public protocol MediaReader: AnyObject {
    var demuxer: any Demuxer { get }

    /// The format of the samples that `read` returns.
    var format: LPCMFormat { get }

    /// The width of the recording's samples, if it stores them without loss; nil for a lossy codec.
    var sampleWidth: SampleWidth? { get }

    /// The position of the next frame that `read` returns.
    var position: Estimate<Duration> { get }

    /// Fills `samples` (interleaved, whole frames) from the front and returns the number of frames: fewer than
    /// requested only at the end, or before an error, which the next call throws; 0 only at the end. A packet that cannot be decoded is skipped and counted.
    func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount

    /// Seeks so that `read` continues at `position`, exact to the sample if the demuxer's answer is exact. If this
    /// throws, `read` continues where it was.
    func seek(to position: Duration) throws(ReaderError) -> Estimate<Duration>
}

extension MediaReader {
    /// Returns nil: the default for lossy codecs.
    public var sampleWidth: SampleWidth? { nil }
}

public enum ReaderError: Error, Equatable, Sendable {
    case demuxer(DemuxerError)
    /// The audio cannot be decoded; the text is a sentence with its remedy.
    case undecodable(String, kind: MediaErrorKind = .unsupportedFormat)
}
