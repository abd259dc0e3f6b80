internal import Synchronization
internal import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourSoundCard
internal import TenfourSystem
internal import TenfourVoiceProcessing

/// The playback thread: at each request of the card (or the clock) it pulls audio from the mixer and writes it to the
/// card.
struct PlaybackLoop: ~Copyable, Sendable {
    private let controls: Controls
    /// The state shared with the card's thread, if another thread drives the card; nil if this thread drives it.
    private let card: TimePitchSharedState?
    private var player: PlaybackStep
    private var reports: LatestWriter<PlaybackReport>

    /// `loudspeaker` is nil if another thread drives the card.
    init(
        _ output: consuming PlaybackOutput, _ pipeline: consuming PlayoutPipeline, _ controls: Controls,
        _ loudspeaker: consuming LoudspeakerStage?, packets: consuming RingBufferConsumer<IncomingPacket>,
        reports: consuming LatestWriter<PlaybackReport>,
        tap: consuming RingBufferProducer<RecordedAudio>?, card: TimePitchSharedState? = nil,
        echo: consuming PlayedAudioWriter? = nil
    ) {
        self.controls = controls
        self.card = card
        self.reports = reports
        player = PlaybackStep(output, pipeline, loudspeaker, packets: packets, tap: tap, echo: echo)
    }

    consuming func run(priority: RealTime) {
        player.report.priority = priority
        player.fit(priority)
        while !controls.stops {
            player.loudspeaker?.update(from: controls)
            player.updateVolumes(from: controls.talkerVolumes)
            player.pullPeriod()
            if let card { player.setInterruptions(card.interruptions) }
            if player.isReportDue {
                player.report.priority = priority.renewed()
                reports.publish(player.makeReport())
            }
        }
        player.finish()
    }
}

/// The state of playback, as published by the playback thread.
struct PlaybackReport: BitwiseCopyable, Sendable {
    var mixer = MixerReport()
    /// The neural models that the decoders use now.
    var decoder = DecoderBudget(DecoderConfiguration(.plain))
    var interruptions = Interruptions()
    /// The card's sample rate, which is the unit of the frames in `interruptions`.
    var rate = SampleRate.opus
    var priority = RealTime.notAsked
    /// The number of samples that were not recorded because the file was too slow.
    var unrecorded = 0
    /// The levels of received audio in the last 3.2 s.
    var levelHistory = LevelHistory()

    struct Interruptions: BitwiseCopyable, Sendable {
        var xruns = 0
        var losses = 0
        /// The number of frames, at the card's sample rate, that the card did not play.
        var missed = FrameCount(0)
        var isCardLost = false
    }
}

/// The work of the playback thread for one period of the card. It neither allocates nor locks.
struct PlaybackStep: ~Copyable, Sendable {
    var report = PlaybackReport()
    /// Nil if another thread drives the card.
    var loudspeaker: LoudspeakerStage?

    private var output: PlaybackOutput
    private var pipeline: PlayoutPipeline
    private let packets: RingBufferConsumer<IncomingPacket>
    private let tap: RingBufferProducer<RecordedAudio>?
    /// Passes what is played on to the echo canceller; nil if there is none.
    private var echo: PlayedAudioWriter?
    /// The version of the volumes that the mixer has.
    private var volumeVersion = 0
    private var sound: FixedBuffer<Float>
    private var recorded = RecordedAudio()
    /// The number of frames played since the last report.
    private var framesSinceReport = 0

    init(
        _ output: consuming PlaybackOutput, _ pipeline: consuming PlayoutPipeline,
        _ loudspeaker: consuming LoudspeakerStage?, packets: consuming RingBufferConsumer<IncomingPacket>,
        tap: consuming RingBufferProducer<RecordedAudio>?, echo: consuming PlayedAudioWriter?
    ) {
        sound = FixedBuffer(repeating: 0, count: output.period.rawValue * output.format.channelCount)
        self.output = output
        self.pipeline = pipeline
        self.loudspeaker = loudspeaker
        self.packets = packets
        self.tap = tap
        self.echo = echo
        report.rate = self.output.format.rate
        report.levelHistory = LevelHistory(rate: self.output.format.rate)
    }

    @_noAllocation @_noLocks
    mutating func pullPeriod() {
        switch output.wait() {
        case .interrupted(let interruption):
            record(interruption)
        case .starting:
            pipeline.dropOldest(of: packets)
        case .demand(let now, let shift, let playedAt):
            pipeline.mixer.shiftClock(by: shift)
            Self.pull(&pipeline, into: &sound, at: now, from: packets)
            framesSinceReport += output.period.rawValue
            let concealed = (
                ahead: atOwnRate(pipeline.mixer.concealment.ahead), behind: atOwnRate(pipeline.mixer.concealment.behind)
            )
            Self.follow(sound, output.period.rawValue, concealed.ahead + concealed.behind, with: &report.levelHistory)
            if report.interruptions.isCardLost { report.interruptions.missed += output.period }
            pipeline.mixer.recordUnplayed(report.interruptions.isCardLost ? output.period : .zero)
            record(concealed)
            loudspeaker?.apply(to: &sound)
            echo?.write(sound, playedAt: playedAt)
            output.write(sound)
        }
    }

    /// Takes over the talkers' volumes, if one has changed.
    mutating func updateVolumes(from volumes: TalkerVolumes) {
        let version = volumes.version.load(ordering: .acquiring)
        guard version != volumeVersion else { return }
        volumeVersion = version
        volumes.apply(to: &pipeline.mixer)
    }

    /// Sets the interruptions of the card, when another thread drives it.
    mutating func setInterruptions(_ interruptions: PlaybackReport.Interruptions) {
        pipeline.mixer.recordUnplayed(interruptions.missed - report.interruptions.missed)
        report.interruptions = interruptions
    }

    /// Whether a report is due. A report is large to copy, so it is published twenty times a second only.
    var isReportDue: Bool { @_noAllocation @_noLocks get { framesSinceReport * 20 >= output.format.rate.hertz } }

    @_noAllocation @_noLocks
    mutating func makeReport() -> PlaybackReport {
        framesSinceReport = 0
        pipeline.write(to: &report)
        return report
    }

    mutating func fit(_ priority: RealTime) { output.fit(priority) }

    mutating func finish() { output.finish() }

    @_noAllocation @_noLocks
    private mutating func record(_ interruption: Interruption) {
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

    /// Records the audio played last, starting with the first packet, so that a recording does not begin with silence.
    /// `concealed` are the numbers of concealed frames at the start of this audio (`ahead`) and directly before it
    /// (`behind`).
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

    /// Exempt from the compiler's allocation check, which would take the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    private static func follow(
        _ sound: borrowing FixedBuffer<Float>, _ frameCount: Int, _ concealed: Int,
        with levelHistory: inout LevelHistory
    ) {
        levelHistory.append(sound.span, frameCount: frameCount, concealed: concealed)
    }

    /// Exempt from the compiler's allocation check, which would take the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    private static func pull(
        _ pipeline: inout PlayoutPipeline, into sound: inout FixedBuffer<Float>, at now: Instant,
        from packets: borrowing RingBufferConsumer<IncomingPacket>
    ) {
        var output = sound.mutableSpan
        pipeline.pull(into: &output, at: now, from: packets)
    }
}
