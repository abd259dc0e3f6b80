internal import Glibc
internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourMediaSource
internal import TenfourWaveform

/// One pass over the audio of an item for its waveform, in blocks, at a pace that leaves the processor to others.
struct WaveformPass: ~Copyable {
    let format: LPCMFormat
    private(set) var reduction: BarReduction
    private var block: FixedBuffer<Float>
    /// The processor time of the thread when it went on working.
    private var slice = Self.processorTime
    private var hasPaused = false

    private static let blockFrameCount = 4_096
    /// The processor time between two pauses.
    private static let sliceDuration = Duration.milliseconds(4)
    /// The processor time before the first pause. In it the first bars of a long item become known.
    private static let firstSliceDuration = Duration.milliseconds(80)
    /// The duration of a pause for each processor time of work: a quarter of a processor is used at most.
    private static let pauseFactor = 3
    private static let longestPause = Duration.milliseconds(60)

    /// The processor time of this thread. The C function is `clock_gettime`.
    private static var processorTime: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    init(barCount: Int, format: LPCMFormat, expecting frameCount: FrameCount?) {
        self.format = format
        reduction = BarReduction(barCount: barCount, channelCount: format.channelCount, expecting: frameCount)
        block = FixedBuffer(repeating: 0, count: Self.blockFrameCount * format.channelCount)
    }

    /// Reads a block and adds it to the bars. Returns false at the end.
    mutating func read<Source: AudioSource & ~Copyable>(_ source: inout Source) throws(Source.Failure) -> Bool {
        let count = try Self.read(&source, into: &block)
        guard count > .zero else { return false }
        Self.append(block, count.rawValue * format.channelCount, to: &reduction)
        return true
    }

    private static func append(
        _ block: borrowing FixedBuffer<Float>, _ count: Int, to reduction: inout BarReduction
    ) {
        reduction.append(block.span(in: 0..<count))
    }

    private static func read<Source: AudioSource & ~Copyable>(
        _ source: inout Source, into block: inout FixedBuffer<Float>
    ) throws(Source.Failure) -> FrameCount {
        var room = block.mutableSpan
        return try source.read(into: &room)
    }

    /// Continues at another position.
    mutating func move(to position: Duration) { reduction.move(to: FrameCount(position, at: format.rate)) }

    func progress(of frameCount: FrameCount?) -> WaveformProgress {
        let read = FrameCount(reduction.frameCount)
        return WaveformProgress(
            partialBars: reduction.partialBars(of: max(frameCount ?? read, read)), rate: format.rate)
    }

    /// Pauses if it is time.
    mutating func rest() {
        let worked = Self.processorTime - slice
        guard worked >= (hasPaused ? Self.sliceDuration : Self.firstSliceDuration) else { return }
        hasPaused = true
        let pause = min(worked * Self.pauseFactor, Self.longestPause)
        usleep(UInt32(pause / .microseconds(1)))
        slice = Self.processorTime
    }
}

/// The audio of a reader in its own format.
struct ReaderAudio: AudioSource {
    let reader: any MediaReader

    var format: LPCMFormat { reader.format }
    func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
        try reader.read(into: &samples)
    }

    /// The number of frames, as far as it is known.
    var frameCount: FrameCount? { reader.demuxer.duration.map { FrameCount($0.value, at: format.rate) } }
}
