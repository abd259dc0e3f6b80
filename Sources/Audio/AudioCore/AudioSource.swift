/// A source of audio: a sound card's input, a file, a pipe or a generator.
public protocol AudioSource: ~Copyable {
    associatedtype Failure: Error

    /// The format of the samples that `read` returns.
    var format: LPCMFormat { get }

    /// Fills `samples` (interleaved, whole frames) from the front and returns the number of frames. The number is less
    /// than requested only at the end of the audio; later calls return zero. May block on a card or a pipe.
    mutating func read(into samples: inout MutableSpan<Float>) throws(Failure) -> FrameCount
}
