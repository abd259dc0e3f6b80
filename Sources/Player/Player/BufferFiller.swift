internal import Glibc
internal import Synchronization
internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourMediaSource
internal import TenfourRings
internal import TenfourTimePitch

/// Reads audio, applies rate, pitch and equaliser, and pushes it into the ring block by block, each with its position
/// in the item.
struct BufferFiller: ~Copyable {
    /// The generation of the blocks pushed from now on.
    private(set) var generation = 0

    private let format: LPCMFormat
    private let controls: RendererControls
    private let blocks: RingBufferProducer<AudioBlock>
    private var effects: EffectChain<TimePitch, Equalizer>
    private var bandsVersion = 0
    /// The samples of the last read.
    private var chunk: FixedBuffer<Float>
    /// The range of frames in `chunk` that is not processed yet.
    private var unprocessed = 0..<0
    private var output: FixedBuffer<Float>
    private var block = AudioBlock()
    /// The position after the last frame read.
    private var position = Estimate(Duration.zero, isExact: true)
    /// The number of frames pushed in this generation.
    private var pushed = 0
    /// The number of frames pushed in total.
    private var totalPushed = 0

    /// The pause, in microseconds, before a block that did not fit into the full ring is pushed again.
    private static let pollInterval: UInt32 = 5_000
    /// The duration of audio at which the ring counts as full. It is short, so that a change of rate is heard soon.
    private static let targetDuration = Duration.milliseconds(150)
    /// The number of frames per read.
    private static let chunkFrameCount = 512

    init(format: LPCMFormat, _ controls: RendererControls, _ blocks: consuming RingBufferProducer<AudioBlock>) {
        self.format = format
        self.controls = controls
        self.blocks = blocks
        effects = EffectChain(TimePitch(format: format), Equalizer(format: format, bands: []))
        chunk = FixedBuffer(repeating: 0, count: Self.chunkFrameCount * format.channelCount)
        output = FixedBuffer(repeating: 0, count: AudioBlock.capacity)
    }

    /// The duration of this generation's audio in the ring, without blocks of earlier generations.
    var ahead: Duration { FrameCount(min(controls.queued, pushed)).duration(at: format.rate) }

    var isFull: Bool { ahead >= Self.targetDuration }

    /// Starts a generation, and drops all audio that was read but not yet pushed into the ring.
    mutating func begin(_ generation: Int) {
        self.generation = generation
        pushed = 0
        unprocessed = 0..<0
        effects.clear()
    }

    /// Pushes one block and returns the number of its frames. At the end of `reader` the block holds the remaining
    /// frames, and `isAtEnd` becomes true.
    mutating func fill(
        from reader: any MediaReader, item: Int, _ mailbox: WorkerMailbox
    ) throws(ReaderError) -> (FrameCount, isAtEnd: Bool) {
        apply(mailbox.parameters)
        let requested = AudioBlock.capacity / format.channelCount
        if unprocessed.isEmpty, effects.latency <= 0 { position = reader.position }
        block.position = position(of: effects.latency)
        var frames = 0
        var isAtEnd = false
        var failure: ReaderError?
        while frames < requested, !isAtEnd {
            if unprocessed.isEmpty {
                do throws(ReaderError) {
                    isAtEnd = try !read(from: reader)
                } catch {
                    failure = error
                    break
                }
            }
            frames += isAtEnd ? finish(from: frames, to: requested) : process(from: frames, to: requested)
        }
        // Reports the end only with a block that is not full: if the last frames read fill a block, more frames may
        // remain. They are in the next block, which may be short or empty.
        isAtEnd = isAtEnd && frames < requested
        block.generation = generation
        block.item = item
        block.rate = rate(from: block.position, over: frames)
        block.isExact = position.isExact
        block.frameCount = frames
        for index in 0..<frames * format.channelCount { block.samples[index] = output[index] }
        if frames > 0 { push(mailbox) }
        if let failure { throw failure }
        return (FrameCount(frames), isAtEnd)
    }

    /// The position, in nanoseconds, of the frame `latency` frames before the next unprocessed frame.
    private func position(of latency: Double) -> Int64 {
        let behind = (Double(unprocessed.count) + latency) * 1e9 / Double(format.rate.hertz)
        return max(Instant.nanoseconds(in: position.value) - Int64(behind), 0)
    }

    /// The mean playback rate of the last `frames` output frames, which begin at the position `start`. It is measured,
    /// since time stretching varies the rate between splices.
    private func rate(from start: Int64, over frames: Int) -> Double {
        guard effects.rate != 1, frames > 0 else { return 1 }
        let passed = Double(position(of: effects.latency) - start) * Double(format.rate.hertz) / (1e9 * Double(frames))
        return min(max(passed, 0.01), 64)
    }

    private mutating func apply(_ parameters: PlaybackParameters) {
        if effects.first.rate != parameters.rate { effects.first.rate = parameters.rate }
        if effects.first.pitch != parameters.pitch { effects.first.pitch = parameters.pitch }
        guard bandsVersion != parameters.bandsVersion else { return }
        bandsVersion = parameters.bandsVersion
        let bands = parameters.bands
        if bands.count == effects.second.bandCount {
            for (index, band) in bands.enumerated() { effects.second[index] = band }
        } else {
            effects.second = Equalizer(format: format, bands: bands)
        }
    }

    /// Reads the next chunk. Returns false at the end of `reader`.
    private mutating func read(from reader: any MediaReader) throws(ReaderError) -> Bool {
        let count = try Self.read(&chunk, from: reader).rawValue
        unprocessed = 0..<count
        position = reader.position
        return count > 0
    }

    private static func read(_ chunk: inout FixedBuffer<Float>, from reader: any MediaReader) throws(ReaderError)
        -> FrameCount
    {
        var room = chunk.mutableSpan
        return try reader.read(into: &room)
    }

    private mutating func process(from start: Int, to end: Int) -> Int {
        let channels = format.channelCount
        let progress = Self.process(
            &effects, chunk, unprocessed.lowerBound * channels..<unprocessed.upperBound * channels, into: &output,
            start * channels..<end * channels)
        unprocessed = unprocessed.lowerBound + progress.consumed.rawValue..<unprocessed.upperBound
        return progress.produced.rawValue
    }

    private mutating func finish(from start: Int, to end: Int) -> Int {
        Self.finish(&effects, into: &output, start * format.channelCount..<end * format.channelCount).rawValue
    }

    private static func process(
        _ effects: inout EffectChain<TimePitch, Equalizer>, _ chunk: borrowing FixedBuffer<Float>, _ input: Range<Int>,
        into output: inout FixedBuffer<Float>, _ range: Range<Int>
    ) -> EffectProgress {
        var room = output.mutableSpan(in: range)
        return effects.process(chunk.span(in: input), into: &room)
    }

    private static func finish(
        _ effects: inout EffectChain<TimePitch, Equalizer>, into output: inout FixedBuffer<Float>, _ range: Range<Int>
    ) -> FrameCount {
        var room = output.mutableSpan(in: range)
        return effects.finish(into: &room)
    }

    /// Pushes the block, waiting while the ring is full. The ring's capacity exceeds `targetDuration`, so only stale
    /// blocks can fill it, and these are discarded soon. Drops the block if a newer job replaces the present job.
    private mutating func push(_ mailbox: WorkerMailbox) {
        count(block.frameCount)
        while !blocks.push(block) {
            if mailbox.isReplaced { return count(-block.frameCount) }
            usleep(Self.pollInterval)
        }
    }

    /// Counts pushed frames. Must be called before the renderer can take the block, since the fill level must never
    /// become negative.
    private mutating func count(_ frames: Int) {
        totalPushed &+= frames
        pushed += frames
        controls.pushed.store(totalPushed, ordering: .releasing)
    }
}
