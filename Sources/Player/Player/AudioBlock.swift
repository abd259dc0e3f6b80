/// A block of samples on its way from the worker to the audio thread, with its position in the item.
struct AudioBlock: BitwiseCopyable, Sendable {
    /// The capacity in samples: 10 ms of stereo at 48 kHz.
    static var capacity: Int { 960 }

    /// The seek generation. Each seek begins a new generation, and the renderer discards blocks of earlier generations.
    var generation = 0
    /// The index of the item in the queue.
    var item = 0
    /// The position of the first frame, in nanoseconds from the start of the item.
    var position: Int64 = 0
    /// The playback rate, above zero: seconds of the item per second of output.
    var rate = 1.0
    /// Whether the position is exact.
    var isExact = true
    var frameCount = 0
    /// The samples, interleaved.
    var samples = InlineArray<960, Float>(repeating: 0)
}
