/// Where sound comes from: a capturing card, a file, a pipe, a generator.
public protocol AudioSource: ~Copyable {
    associatedtype Failure: Error

    /// Of what `read` gives.
    var format: LPCMFormat { get }

    /// Fills `samples` (interleaved, a whole number of frames) from the front and returns how many frames it filled:
    /// fewer than asked for only at the end of the sound, zero when there is no more. May wait for a card or a pipe.
    mutating func read(into samples: inout MutableSpan<Float>) throws(Failure) -> FrameCount
}

/// Where sound goes: a playing card, a file, a pipe, a closure.
public protocol AudioSink: ~Copyable {
    associatedtype Failure: Error

    /// Of what `write` takes.
    var format: LPCMFormat { get }

    /// Takes `samples` (interleaved, a whole number of frames) as the next to sound. May wait for a card or a pipe.
    mutating func write(_ samples: Span<Float>) throws(Failure)
}
