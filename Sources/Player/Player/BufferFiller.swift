internal import Synchronization
internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourMediaSource
internal import TenfourRings
internal import TenfourTimePitch

/// Has sound read, bent in time and pitch, and put into the ring block by block, each with its place in the item.
struct BufferFiller: ~Copyable {
    /// Of what is put in from now on.
    private(set) var generation = 0

    private let format: LPCMFormat
    private let controls: RendererControls
    private let blocks: RingBufferProducer<AudioBlock>
    private var effects: EffectChain<TimePitch, Equalizer>
    private var bandsVersion = 0
    /// What was read, and which frames of it were not taken yet.
    private var chunk: FixedBuffer<Float>
    private var unread = 0..<0
    private var output: FixedBuffer<Float>
    private var block = AudioBlock()
    /// Of the frame behind all that was read.
    private var position = Estimate(Duration.zero, isExact: true)
    /// Frames put in, in this generation and ever.
    private var pushed = 0
    private var pushedEver = 0

    /// How much the ring holds: little, so that another rate is heard at once.
    private static let goal = Duration.milliseconds(150)
    /// How much is read at a time.
    private static let chunkFrameCount = 512

    init(format: LPCMFormat, _ controls: RendererControls, _ blocks: consuming RingBufferProducer<AudioBlock>) {
        self.format = format
        self.controls = controls
        self.blocks = blocks
        effects = EffectChain(TimePitch(format: format), Equalizer(format: format, bands: []))
        chunk = FixedBuffer(repeating: 0, count: Self.chunkFrameCount * format.channelCount)
        output = FixedBuffer(repeating: 0, count: AudioBlock.capacity)
    }

    /// How much of this generation the ring holds. What is of earlier ones lies before it.
    var ahead: Duration { FrameCount(min(controls.waiting, pushed)).duration(at: format.rate) }

    var isFull: Bool { ahead >= Self.goal }

    /// What was read before it is forgotten.
    mutating func begin(_ generation: Int) {
        self.generation = generation
        pushed = 0
        unread = 0..<0
        effects.clear()
    }

    /// Puts a block in: of all that is left where the reader is at its end, and says so then.
    mutating func fill(
        from reader: any MediaReader, item: Int, _ orders: WorkerRequest
    ) throws(ReaderError) -> (FrameCount, isAtEnd: Bool) {
        follow(orders.treatment)
        let wanted = AudioBlock.capacity / format.channelCount
        if unread.isEmpty, effects.latency <= 0 { position = reader.position }
        block.position = place(of: effects.latency)
        var frames = 0
        var isAtEnd = false
        var failure: ReaderError?
        while frames < wanted, !isAtEnd {
            if unread.isEmpty {
                do throws(ReaderError) {
                    isAtEnd = try !read(from: reader)
                } catch {
                    failure = error
                    break
                }
            }
            frames += isAtEnd ? finish(from: frames, to: wanted) : process(from: frames, to: wanted)
        }
        // What the end of an item leaves over begins the next block, or is its own.
        isAtEnd = isAtEnd && frames < wanted
        block.generation = generation
        block.item = item
        block.rate = rate(from: block.position, over: frames)
        block.isExact = position.isExact
        block.frameCount = frames
        for index in 0..<frames * format.channelCount { block.samples[index] = output[index] }
        if frames > 0 { push(orders) }
        if let failure { throw failure }
        return (FrameCount(frames), isAtEnd)
    }

    /// Where in the item, in nanoseconds, the frame lies that comes so many before the one that is taken next.
    private func place(of latency: Double) -> Int64 {
        let behind = (Double(unread.count) + latency) * 1e9 / Double(format.rate.hertz)
        return max(Instant.nanoseconds(in: position.value) - Int64(behind), 0)
    }

    /// Of the item, in a frame of output, from `start` to here: not as it was told, but as it came out between the splices.
    private func rate(from start: Int64, over frames: Int) -> Double {
        guard effects.rate != 1, frames > 0 else { return 1 }
        let passed = Double(place(of: effects.latency) - start) * Double(format.rate.hertz) / (1e9 * Double(frames))
        return min(max(passed, 0.01), 64)
    }

    private mutating func follow(_ treatment: PlaybackParameters) {
        if effects.first.rate != treatment.rate { effects.first.rate = treatment.rate }
        if effects.first.pitch != treatment.pitch { effects.first.pitch = treatment.pitch }
        guard bandsVersion != treatment.bandsVersion else { return }
        bandsVersion = treatment.bandsVersion
        let bands = treatment.bands
        if bands.count == effects.second.bandCount {
            for (index, band) in bands.enumerated() { effects.second[index] = band }
        } else {
            effects.second = Equalizer(format: format, bands: bands)
        }
    }

    /// False at the end.
    private mutating func read(from reader: any MediaReader) throws(ReaderError) -> Bool {
        let count = try Self.read(&chunk, from: reader).rawValue
        unread = 0..<count
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
            &effects, chunk, unread.lowerBound * channels..<unread.upperBound * channels, into: &output,
            start * channels..<end * channels)
        unread = unread.lowerBound + progress.consumed.rawValue..<unread.upperBound
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

    /// The ring has more places than its goal needs: only what is stale, and will be gone at once, can fill it. A block for
    /// which there is no place is given up where nobody wants it any more.
    private mutating func push(_ orders: WorkerRequest) {
        count(block.frameCount)
        while !blocks.push(block) {
            if orders.isReplaced { return count(-block.frameCount) }
            rest()
        }
    }

    /// Before it can be taken, so that what waits is never less than nothing.
    private mutating func count(_ frames: Int) {
        pushedEver &+= frames
        pushed += frames
        controls.pushed.store(pushedEver, ordering: .releasing)
    }
}
