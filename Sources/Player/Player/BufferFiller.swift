internal import Glibc
internal import Synchronization
internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourMediaSource
internal import TenfourSystem
internal import TenfourTimePitch

/// The effects before the ring: rate and pitch, an effect of the program's own, the equaliser, and the other effects.
typealias PlaybackEffects =
    EffectChain<TimePitch, EffectChain<ReplaceableEffect, EffectChain<Equalizer, EffectProcessor>>>

/// Reads audio, applies effects, and pushes it into the ring block by block, each with its position
/// in the item.
struct BufferFiller: ~Copyable {
    /// The generation of the blocks pushed from now on.
    private(set) var generation = 0

    private let format: LPCMFormat
    private let controls: RendererControls
    private let blocks: RingBufferProducer<AudioBlock>
    private var effects: PlaybackEffects
    private var effectsVersion = 0
    /// Whether bands of the equaliser can raise levels above full scale.
    private var bandsAmplify = false
    /// Whether the gain of the item, or a crossfade, can raise levels above full scale.
    var itemAmplifies = false {
        didSet { effects.second.second.second.limitsAlways = bandsAmplify || itemAmplifies }
    }
    /// The samples of the last read.
    private var chunk: FixedBuffer<Float>
    /// The range of frames in `chunk` that is not processed yet.
    private var unprocessed = 0..<0
    private var output: FixedBuffer<Float>
    /// Takes the samples for a waveform; nil if none is made.
    private let tap: WaveformTap?
    private var block = AudioBlock()
    private var skipper: SilenceSkipper
    private var skips = SkippedPauses()
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

    /// `effect` is an effect of the program's own, with the same format.
    init(
        format: LPCMFormat, _ controls: RendererControls, _ blocks: consuming RingBufferProducer<AudioBlock>,
        effect: consuming AnyAudioEffect, tap: WaveformTap? = nil
    ) {
        self.format = format
        self.tap = tap
        self.controls = controls
        self.blocks = blocks
        effects = EffectChain(
            TimePitch(format: format),
            EffectChain(
                ReplaceableEffect(effect),
                EffectChain(Equalizer(format: format, bands: []), EffectProcessor(format: format))))
        skipper = SilenceSkipper(format: format)
        chunk = FixedBuffer(repeating: 0, count: Self.chunkFrameCount * format.channelCount)
        output = FixedBuffer(repeating: 0, count: AudioBlock.capacity)
    }

    /// The duration of this generation's audio in the ring, without blocks of earlier generations.
    var ahead: Duration { FrameCount(min(controls.queued, pushed)).duration(at: format.rate) }

    var isFull: Bool { ahead >= Self.targetDuration }

    /// Whether frames of a pause were read that are not on their way to the ring.
    var holdsPause: Bool { skipper.holdsBack }

    /// Starts a generation, and drops all audio that was read but not yet pushed into the ring.
    mutating func begin(_ generation: Int) {
        self.generation = generation
        pushed = 0
        unprocessed = 0..<0
        skipper.clear()
        skips = SkippedPauses()
        effects.clear()
    }

    /// Starts an item: its loudness is measured from now on. With `amplifies`, its gain or a crossfade may raise levels
    /// above full scale.
    mutating func beginItem(amplifies: Bool) {
        skipper.clear()
        effects.second.second.second.beginItem()
        itemAmplifies = amplifies
    }

    /// Pushes one block and returns the number of its frames. At the end of `reader` the block holds the remaining
    /// frames, and `isAtEnd` becomes true.
    mutating func fill(
        from reader: any MediaReader, item: Int, _ mailbox: WorkerMailbox
    ) throws(ReaderError) -> (FrameCount, isAtEnd: Bool) {
        apply(mailbox.parameters)
        let requested = AudioBlock.capacity / format.channelCount
        if unprocessed.isEmpty, effects.latency <= 0 { position = skipper.position(in: reader) }
        block.position = position(of: effects.latency)
        let skippedBefore = skips.passed(by: behind(effects.latency))
        var frames = 0
        var isAtEnd = false
        var failure: ReaderError?
        while frames < requested, !isAtEnd {
            if unprocessed.isEmpty {
                do throws(ReaderError) {
                    isAtEnd = try !read(from: reader, mailbox)
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
        let passed = skips.passed(by: behind(effects.latency)) - skippedBefore
        block.rate = rate(from: block.position + passed, over: frames)
        block.isExact = position.isExact
        block.frameCount = frames
        for index in 0..<frames * format.channelCount { block.samples[index] = output[index] }
        if frames > 0 { push(mailbox) }
        if let failure { throw failure }
        return (FrameCount(frames), isAtEnd)
    }

    /// The position, in nanoseconds, of the frame `latency` frames before the next unprocessed frame.
    private func position(of latency: Double) -> Int64 {
        let frames = behind(latency)
        let behind = Int64(frames * 1e9 / Double(format.rate.hertz)) + skips.pending(within: frames)
        return max(Instant.nanoseconds(in: position.value) - behind, 0)
    }

    /// The number of frames between the frame `latency` frames before the next unprocessed frame and the last frame read.
    private func behind(_ latency: Double) -> Double { Double(unprocessed.count) + latency }

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
        if let makeEffect = parameters.takeReplacement() { effects.second.first.replace(by: makeEffect(format)) }
        guard effectsVersion != parameters.effectsVersion else { return }
        effectsVersion = parameters.effectsVersion
        let bands = parameters.bands
        if bands.count == effects.second.second.first.bandCount {
            for (index, band) in bands.enumerated() { effects.second.second.first[index] = band }
        } else {
            effects.second.second.first = Equalizer(format: format, bands: bands)
        }
        bandsAmplify = bands.contains { $0.gain > 0 }
        effects.second.second.second.limitsAlways = bandsAmplify || itemAmplifies
        // The settings have been checked, so nothing is thrown here.
        try? effects.second.second.second.set(parameters.effects)
    }

    /// Reads the next chunk. Returns false at the end of `reader`.
    private mutating func read(from reader: any MediaReader, _ mailbox: WorkerMailbox) throws(ReaderError) -> Bool {
        // The pauses of a live stream stay, since the audio after them is not there yet.
        let skipsSilence = mailbox.parameters.skipsSilence && mailbox.byteSourceState?.isLive != true
        let reader = tap?.tapped(reader) ?? reader
        let (count, skipped) = try skipper.read(into: &chunk, from: reader, isActive: skipsSilence)
        unprocessed = 0..<count
        position = skipper.position(in: reader)
        let time = FrameCount(skipped).duration(at: format.rate)
        skips.append(frameCount: count, after: Instant.nanoseconds(in: time))
        if skipped > 0 { mailbox.parameters.addSkippedSilence(time) }
        return count > 0
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
        _ effects: inout PlaybackEffects, _ chunk: borrowing FixedBuffer<Float>, _ input: Range<Int>,
        into output: inout FixedBuffer<Float>, _ range: Range<Int>
    ) -> EffectProgress {
        var room = output.mutableSpan(in: range)
        return effects.process(chunk.span(in: input), into: &room)
    }

    private static func finish(
        _ effects: inout PlaybackEffects, into output: inout FixedBuffer<Float>, _ range: Range<Int>
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

/// The pauses left out of the audio that was read, so that frames before the last one have the right position while they
/// are in the effects.
///
/// At least 200 ms lie between two such pauses, and the effects hold back less: only the last one matters.
private struct SkippedPauses {
    /// The duration of all pauses, and of the last one, in nanoseconds.
    private var total: Int64 = 0
    private var last: Int64 = 0
    /// The number of frames read after the last pause.
    private var frameCount = 0

    /// Records that `frameCount` frames were read, after a pause of `skipped` nanoseconds was left out.
    mutating func append(frameCount count: Int, after skipped: Int64) {
        if skipped > 0 {
            total += skipped
            (last, frameCount) = (skipped, 0)
        }
        frameCount += count
    }

    /// The duration of the pause within the last `frames` frames, in nanoseconds; 0 if there is none.
    func pending(within frames: Double) -> Int64 { frames > Double(frameCount) ? last : 0 }

    /// The duration of the pauses before the frame that is `frames` frames before the last one.
    func passed(by frames: Double) -> Int64 { total - pending(within: frames) }
}
