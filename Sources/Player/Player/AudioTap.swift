internal import Synchronization
public import TenfourAudioCore
public import TenfourMediaSource
internal import TenfourSystem

/// A block of audio that is heard, with its place in the item.
public struct TappedAudio: Sendable {
    /// The format of the output.
    public var format: LPCMFormat
    /// The samples, interleaved, at most 960; full scale is ±1.
    public var samples: [Float]
    /// The position of the first frame in the item.
    public var position: Estimate<Duration>
    /// The playback rate: seconds of the item per second of output.
    public var rate: Double
    /// The index of the item in the queue; nil if it was removed from the queue.
    public var item: Int?
    /// The moment at which the first frame is heard, on the monotonic clock. It lies up to the duration of the card's
    /// queue ahead. For a file output it is the moment of writing.
    public var heardAt: Instant
    /// The frames directly before this block that were heard and not passed on, since the tap was too slow.
    public var lost: FrameCount
}

/// The two ends of a tap.
struct AudioTap: ~Copyable {
    /// nil without a tap.
    let signals: TapSignals?
    /// The end for the renderer, until it is taken.
    var writer: TapWriter?
    /// The end for the thread of the tap, until it is taken.
    var reader: TapReader?

    /// Creates a tap that gives blocks to `receive`; nil: no tap. Throws if too many files are open.
    init(
        _ receive: (@Sendable (TappedAudio) -> Void)?, format: LPCMFormat, _ controller: PlaybackController
    ) throws(StreamError) {
        guard let receive else {
            signals = nil
            return
        }
        let signals = try TapSignals()
        let ring = RingBuffer(capacity: TapWriter.capacity, filler: TapBlock())
        self.signals = signals
        writer = TapWriter(ring.producer, signals)
        reader = TapReader(ring.consumer, signals, format: format, controller, receive)
    }
}

/// A block on its way from the renderer to the thread of the tap.
struct TapBlock: BitwiseCopyable, Sendable {
    var item = 0
    var position: Int64 = 0
    var isExact = true
    var rate = 1.0
    var heardAt = Instant.start
    var lost = 0
    var sampleCount = 0
    var samples = InlineArray<960, Float>(repeating: 0)
}

/// The state that both ends of a tap share.
final class TapSignals: Sendable {
    let wakeup: WakeupPipe
    /// The number of blocks taken from the ring. It wraps.
    let taken = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)

    init() throws(StreamError) {
        guard let wakeup = try? WakeupPipe() else {
            throw .unusable("too many files are open: raise `ulimit -n`", kind: .resourcesExhausted)
        }
        self.wakeup = wakeup
    }

    /// Ends the thread of the tap, after the blocks that wait.
    func end() {
        isOver.store(true, ordering: .releasing)
        wakeup.signal()
    }
}

/// The end of a tap that the renderer owns. Never waits: a block that finds the ring full is counted.
struct TapWriter: ~Copyable, Sendable {
    private let signals: TapSignals
    private let blocks: RingBufferProducer<TapBlock>
    /// The number of blocks pushed. It wraps.
    private var pushed = 0
    /// The number of frames lost since the last block that was pushed.
    private var lost = 0
    private var hasNews = false
    private var block = TapBlock()

    /// The number of blocks that the ring holds: 2.5 s at 48 kHz, 0.6 s at 192 kHz.
    static let capacity = 256

    init(_ blocks: consuming RingBufferProducer<TapBlock>, _ signals: TapSignals) {
        self.blocks = blocks
        self.signals = signals
    }

    /// Passes on the frames in `range` of `samples`, which are heard from `heardAt` on; they lie at `position` of
    /// `source`.
    @_noAllocation @_noLocks
    mutating func record(
        _ range: Range<Int>, of samples: borrowing FixedBuffer<Float>, channelCount: Int, from source: AudioBlock,
        at position: Int64, _ heardAt: Instant
    ) {
        if range.isEmpty { return }
        block.item = source.item
        block.position = position
        block.isExact = source.isExact
        block.rate = source.rate
        block.heardAt = heardAt
        block.lost = lost
        let first = range.lowerBound * channelCount
        block.sampleCount = min(range.count * channelCount, 960)
        for index in 0..<block.sampleCount { block.samples[index] = samples[first + index] }
        if blocks.push(block) {
            lost = 0
            pushed &+= 1
        } else {
            lost += range.count
        }
        hasNews = true
    }

    /// Wakes the thread of the tap if there are new blocks.
    mutating func wake() {
        if hasNews { signals.wakeup.signal() }
        hasNews = false
    }

    /// Whether there is space for some blocks more, or nobody will take any.
    mutating func hasRoom() -> Bool {
        signals.isOver.load(ordering: .relaxed)
            || pushed &- signals.taken.load(ordering: .acquiring) < Self.capacity / 2
    }
}

/// The thread of a tap: gives blocks to the program.
struct TapReader: ~Copyable, Sendable {
    private let signals: TapSignals
    private let blocks: RingBufferConsumer<TapBlock>
    private let format: LPCMFormat
    private let receive: @Sendable (TappedAudio) -> Void
    private let controller: PlaybackController

    init(
        _ blocks: consuming RingBufferConsumer<TapBlock>, _ signals: TapSignals, format: LPCMFormat,
        _ controller: PlaybackController, _ receive: @escaping @Sendable (TappedAudio) -> Void
    ) {
        self.blocks = blocks
        self.signals = signals
        self.format = format
        self.controller = controller
        self.receive = receive
    }

    /// Runs until the tap is ended and all blocks are passed on.
    func run() {
        var block = TapBlock()
        while true {
            let isOver = signals.isOver.load(ordering: .acquiring)
            while blocks.pop(into: &block) {
                signals.taken.add(1, ordering: .releasing)
                receive(audio(block))
            }
            if isOver { return }
            signals.wakeup.wait(atMost: -1)
        }
    }

    private func audio(_ block: TapBlock) -> TappedAudio {
        TappedAudio(
            format: format, samples: (0..<block.sampleCount).map { block.samples[$0] },
            position: Estimate(.nanoseconds(block.position), isExact: block.isExact), rate: block.rate,
            item: controller.index(of: block.item), heardAt: block.heardAt, lost: FrameCount(block.lost))
    }
}
