public import TenfourAudioCore

/// The third step: packets to LPCM at the rate and with the channels that the output has, as it is asked for. Pulls from a `Demuxer`.
///
/// One thread at a time.
public protocol MediaReader: AnyObject {
    var parser: any Demuxer { get }

    /// Of what `read` gives.
    var format: LPCMFormat { get }

    /// Where in the track the next frame lies that `read` gives.
    var position: Estimate<Duration> { get }

    /// Fills `samples` (interleaved, a whole number of frames) from the front and returns how many frames it filled: fewer than
    /// asked for only at the end. A packet that cannot be decoded is passed over and counted, as players do.
    func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount

    /// What `read` gives next lies at `position`, right to the sample where the parser's answer is exact. Where it throws,
    /// `read` goes on where it was.
    func seek(to position: Duration) throws(ReaderError) -> Estimate<Duration>
}

public enum ReaderError: Error, Equatable, Sendable {
    case parse(DemuxerError)
    /// A sentence with its remedy.
    case undecodable(String)
}
