/// A block of samples on its way from the worker to the audio thread, with its position in the item.
struct AudioBlock: BitwiseCopyable, Sendable {
    /// The capacity in samples: 10 ms of stereo at 48 kHz.
    static var capacity: Int { 960 }

    /// The seek generation. Each seek begins a new generation, and the renderer discards blocks of earlier generations.
    var generation = 0
    /// Index of the item in the queue.
    var item = 0
    /// Position of the first frame, in nanoseconds from the start of the item.
    var position: Int64 = 0
    /// Seconds of the item per second of output, above zero: 1.5 means one and a half times the normal speed.
    var rate = 1.0
    /// Whether the position is exact.
    var isExact = true
    var frameCount = 0
    /// The samples, interleaved.
    var samples = InlineArray<960, Float>(repeating: 0)
}
