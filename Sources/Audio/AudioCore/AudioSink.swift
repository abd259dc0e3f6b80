/// A sink for audio: a sound card's output, a file, a pipe or a closure.
public protocol AudioSink: ~Copyable {
    associatedtype Failure: Error

    /// The format of the samples that `write` expects.
    var format: LPCMFormat { get }

    /// Writes `samples` (interleaved, whole frames). May block on a card or a pipe.
    mutating func write(_ samples: Span<Float>) throws(Failure)
}
