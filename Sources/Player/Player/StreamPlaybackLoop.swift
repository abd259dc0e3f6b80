internal import Synchronization
internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourSoundCard
internal import TenfourSystem

/// The audio thread: renders and writes one period each time the card or the clock requests it.
struct StreamPlaybackLoop: ~Copyable, Sendable {
    private let controls: RendererControls
    private var output: PlaybackOutput
    private var renderer: Renderer
    private var samples: FixedBuffer<Float>
    private var reports: LatestWriter<RendererReport>
    private var report: RendererReport

    init(
        _ output: consuming PlaybackOutput, _ controls: RendererControls,
        blocks: consuming RingBufferConsumer<AudioBlock>, tap: consuming TapWriter?,
        reports: consuming LatestWriter<RendererReport>
    ) {
        self.controls = controls
        samples = FixedBuffer(repeating: 0, count: output.period.rawValue * output.format.channelCount)
        renderer = Renderer(format: output.format, blocks: blocks, tap: tap)
        report = RendererReport(rate: output.format.rate)
        self.output = output
        self.reports = reports
    }

    consuming func run() {
        while !controls.isOver.load(ordering: .relaxed) { handleEvent(isOver: false) }
        // Plays two more periods, so that the output fades out before the card is closed.
        for _ in 0..<2 { handleEvent(isOver: true) }
        output.finish()
    }

    private mutating func handleEvent(isOver: Bool) {
        switch output.wait() {
        case .interrupted(let interruption): record(interruption)
        case .starting: break
        case .demand(_, _, let playedAt):
            var requested = controls.requested
            // Pauses playback while the card is lost: the clock then requests the periods, and nobody would hear the
            // audio.
            if isOver || report.isCardLost { requested.isOpen = false }
            play(playedAt, requested)
            controls.consumed.store(renderer.consumed, ordering: .releasing)
            renderer.wakeTap()
        }
        report.timeline = renderer.timeline
        report.played = renderer.played
        reports.publish(report)
    }

    @_noAllocation @_noLocks
    private mutating func play(_ moment: Instant, _ requested: RendererRequest) {
        renderer.pull(output.period.rawValue, into: &samples, at: moment, requested)
        report.record(samples, output.period.rawValue, channelCount: output.format.channelCount)
        output.write(samples)
    }

    @_noAllocation @_noLocks
    private mutating func record(_ interruption: Interruption) {
        switch interruption.cause {
        case .xrun: report.xruns += 1
        case .suspended, .backlog, .resumed: break
        case .lost: report.isCardLost = true
        case .reopened: report.isCardLost = false
        }
    }
}
