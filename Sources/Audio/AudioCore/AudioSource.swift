/// A source of audio: a capturing card, a file, a pipe, a generator.
public protocol AudioSource: ~Copyable {
    associatedtype Failure: Error

    /// The format of the samples that `read` returns.
    var format: LPCMFormat { get }

    /// Fills `samples` (interleaved, whole frames) from the front and returns the number of frames: fewer than
    /// requested only at the end, zero after it. May block on a card or a pipe.
    mutating func read(into samples: inout MutableSpan<Float>) throws(Failure) -> FrameCount
}
