internal import Synchronization
internal import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourRings
internal import TenfourSoundCard

/// The playback thread: on each demand of the card (or of the clock) it pulls from the mixer and writes.
struct PlaybackLoop: ~Copyable, Sendable {
    private let controls: Controls
    /// How the card fares, where it is another thread's.
    private let card: TimePitchSharedState?
    private var player: PlaybackStep
    private var reports: LatestWriter<PlaybackReport>

    init(
        _ output: consuming PlaybackOutput, _ pipeline: consuming PlayoutPipeline, _ controls: Controls,
        packets: consuming RingBufferConsumer<IncomingPacket>, reports: consuming LatestWriter<PlaybackReport>,
        tap: consuming RingBufferProducer<RecordedAudio>?, card: TimePitchSharedState? = nil
    ) {
        self.controls = controls
        self.card = card
        self.reports = reports
        player = PlaybackStep(output, pipeline, packets: packets, tap: tap)
    }

    consuming func run(priority: RealTime) {
        player.report.priority = priority
        player.fit(priority)
        while !controls.stops {
            player.isMuted = controls.isSpeakerMuted.load(ordering: .relaxed)
            player.turn()
            if let card { player.take(card.interruptions) }
            if player.hasNews {
                player.report.priority = priority.renewed()
                reports.publish(player.tell())
            }
        }
        player.finish()
    }
}

/// How playback goes, as its thread last left it.
struct PlaybackReport: BitwiseCopyable, Sendable {
    var mixer = MixerReport()
    /// What the decoders use at this time.
    var decoder = DecoderBudget(DecoderConfiguration(.plain))
    var interruptions = Interruptions()
    /// The card's, for the frames in `interruptions`.
    var rate = SampleRate.opus
    var priority = RealTime.notAsked
    /// Sound that could not be recorded because its file was too slow.
    var unrecorded = 0
    /// How loud it is.
    var levelHistory = LevelHistory()

    struct Interruptions: BitwiseCopyable, Sendable {
        var xruns = 0
        var losses = 0
        /// What the card did not play, at its own rate.
        var missed = FrameCount(0)
        var isCardLost = false
    }
}

/// One turn of playback, free of allocations and locks.
struct PlaybackStep: ~Copyable, Sendable {
    var report = PlaybackReport()
    var isMuted = false

    private var output: PlaybackOutput
    private var pipeline: PlayoutPipeline
    private let packets: RingBufferConsumer<IncomingPacket>
    private let tap: RingBufferProducer<RecordedAudio>?
    private var sound: FixedBuffer<Float>
    private var recorded = RecordedAudio()
    /// Frames played since it was last told how it goes.
    private var untold = 0

    init(
        _ output: consuming PlaybackOutput, _ pipeline: consuming PlayoutPipeline,
        packets: consuming RingBufferConsumer<IncomingPacket>, tap: consuming RingBufferProducer<RecordedAudio>?
    ) {
        sound = FixedBuffer(repeating: 0, count: output.period.rawValue * output.format.channelCount)
        self.output = output
        self.pipeline = pipeline
        self.packets = packets
        self.tap = tap
        report.rate = self.output.format.rate
        report.levelHistory = LevelHistory(rate: self.output.format.rate)
    }

    @_noAllocation @_noLocks
    mutating func turn() {
        switch output.wait() {
        case .interrupted(let interruption):
            note(interruption)
        case .demand(let now, let shift, _):
            pipeline.mixer.shiftClock(by: shift)
            Self.pull(&pipeline, into: &sound, at: now, from: packets)
            untold += output.period.rawValue
            let concealed = (
                ahead: atOwnRate(pipeline.mixer.concealment.ahead), behind: atOwnRate(pipeline.mixer.concealment.behind)
            )
            Self.follow(sound, output.period.rawValue, concealed.ahead + concealed.behind, with: &report.levelHistory)
            if report.interruptions.isCardLost { report.interruptions.missed += output.period }
            pipeline.mixer.recordUnplayed(report.interruptions.isCardLost ? output.period : .zero)
            record(concealed)
            if isMuted { for index in 0..<sound.count { sound[index] = 0 } }
            output.write(sound)
        }
    }

    /// How the card fares that plays what another thread makes of this sound.
    mutating func take(_ interruptions: PlaybackReport.Interruptions) {
        pipeline.mixer.recordUnplayed(interruptions.missed - report.interruptions.missed)
        report.interruptions = interruptions
    }

    /// A report is large to copy and seldom looked at: twenty times a second will do.
    var hasNews: Bool { @_noAllocation @_noLocks get { untold * 20 >= output.format.rate.hertz } }

    @_noAllocation @_noLocks
    mutating func tell() -> PlaybackReport {
        untold = 0
        pipeline.write(to: &report)
        return report
    }

    mutating func fit(_ priority: RealTime) { output.fit(priority) }

    mutating func finish() { output.finish() }

    @_noAllocation @_noLocks
    private mutating func note(_ interruption: Interruption) {
        pipeline.mixer.skip(interruption.behind, missed: interruption.missed)
        report.interruptions.missed += interruption.missed
        switch interruption.cause {
        case .xrun: report.interruptions.xruns += 1
        case .suspended, .backlog, .resumed: break
        case .lost:
            report.interruptions.losses += 1
            report.interruptions.isCardLost = true
        case .reopened: report.interruptions.isCardLost = false
        }
    }

    /// From the first packet on, so that a recording does not begin with a wait.
    @_noAllocation @_noLocks
    private mutating func record(_ concealed: (ahead: Int, behind: Int)) {
        guard tap != nil, pipeline.mixer.hasHeardAnyone else { return }
        (recorded.concealedAhead, recorded.concealedBehind) = (concealed.ahead, concealed.behind)
        var start = 0
        while start < sound.count {
            recorded.count = min(sound.count - start, recorded.samples.count)
            for index in 0..<recorded.count { recorded.samples[index] = sound[start + index] }
            start += recorded.count
            if let isTaken = tap?.push(recorded), !isTaken { report.unrecorded += recorded.count }
            (recorded.concealedAhead, recorded.concealedBehind) = (0, 0)
        }
    }

    @_noAllocation @_noLocks
    private func atOwnRate(_ frames: Int) -> Int {
        frames * output.format.rate.hertz / SampleRate.opus.hertz
    }

    /// Vetted: nothing is freed here, though the compiler takes the end of a Span's life for that.
    @_semantics("no_performance_analysis")
    private static func follow(
        _ sound: borrowing FixedBuffer<Float>, _ frameCount: Int, _ concealed: Int,
        with levelHistory: inout LevelHistory
    ) {
        levelHistory.append(sound.span, frameCount: frameCount, concealed: concealed)
    }

    /// Vetted: nothing is freed here, though the compiler takes the end of a Span's life for that.
    @_semantics("no_performance_analysis")
    private static func pull(
        _ pipeline: inout PlayoutPipeline, into sound: inout FixedBuffer<Float>, at now: Instant,
        from packets: borrowing RingBufferConsumer<IncomingPacket>
    ) {
        var output = sound.mutableSpan
        pipeline.pull(into: &output, at: now, from: packets)
    }
}
