public import Sound

/// The third step: packets to LPCM at the rate and with the channels that the output has, as it is asked for. Pulls from a `Parsing`.
///
/// One thread at a time.
public protocol Reading: AnyObject {
    var parser: any Parsing { get }

    /// Of what `read` gives.
    var format: LPCMFormat { get }

    /// Where in the track the next frame lies that `read` gives.
    var position: Estimate<Duration> { get }

    /// Fills `samples` (interleaved, a whole number of frames) from the front and returns how many frames it filled: fewer than
    /// asked for only at the end. A packet that cannot be decoded is passed over and counted, as players do.
    func read(into samples: inout MutableSpan<Float>) throws(ReadError) -> FrameCount

    /// What `read` gives next lies at `position`, right to the sample where the parser's answer is exact. Where it throws,
    /// `read` goes on where it was.
    func seek(to position: Duration) throws(ReadError) -> Estimate<Duration>
}

public enum ReadError: Error, Equatable, Sendable {
    case parse(ParseError)
    /// A sentence with its remedy.
    case undecodable(String)
}
