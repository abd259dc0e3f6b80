/// A piece of sound on its way from the worker to the audio thread, and where in its item it lies.
struct AudioBlock: BitwiseCopyable, Sendable {
    /// Of samples: ten milliseconds of stereo at 48 kHz.
    static var capacity: Int { 960 }

    /// What the deck plays is of the generation that it is told: each seek begins another, and the sound from before it goes to waste.
    var generation = 0
    /// Which of the queue.
    var item = 0
    /// Of the first frame, in nanoseconds from the beginning of the item.
    var position: Int64 = 0
    /// How much of the item passes while this sounds, above zero: 1.5 where it is half as fast again.
    var rate = 1.0
    /// Whether the position is no guess.
    var isExact = true
    var frameCount = 0
    /// Interleaved.
    var samples = InlineArray<960, Float>(repeating: 0)
}
