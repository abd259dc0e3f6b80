/// A sink for audio: a playing card, a file, a pipe, a closure.
public protocol AudioSink: ~Copyable {
    associatedtype Failure: Error

    /// The format of the samples that `write` expects.
    var format: LPCMFormat { get }

    /// Writes `samples` (interleaved, whole frames). May block on a card or a pipe.
    mutating func write(_ samples: Span<Float>) throws(Failure)
}
