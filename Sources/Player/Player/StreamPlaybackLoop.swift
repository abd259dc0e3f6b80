internal import Synchronization
internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourRings
internal import TenfourSoundCard

/// The audio thread: on each demand of the card (or of the clock) it pulls from the deck and writes.
struct StreamPlaybackLoop: ~Copyable, Sendable {
    private let controls: RendererControls
    private var output: PlaybackOutput
    private var deck: Renderer
    private var sound: FixedBuffer<Float>
    private var reports: LatestWriter<RendererReport>
    private var report: RendererReport

    init(
        _ output: consuming PlaybackOutput, _ controls: RendererControls, blocks: consuming RingBufferConsumer<AudioBlock>,
        reports: consuming LatestWriter<RendererReport>
    ) {
        self.controls = controls
        sound = FixedBuffer(repeating: 0, count: output.period.rawValue * output.format.channelCount)
        deck = Renderer(format: output.format, blocks: blocks)
        report = RendererReport(rate: output.format.rate)
        self.output = output
        self.reports = reports
    }

    consuming func run() {
        while !controls.isOver.load(ordering: .relaxed) { turn(isOver: false) }
        // What sounds fades before the card is let go.
        for _ in 0..<2 { turn(isOver: true) }
        output.finish()
    }

    private mutating func turn(isOver: Bool) {
        switch output.wait() {
        case .interrupted(let interruption): note(interruption)
        case .demand(_, _, let playedAt):
            var orders = controls.orders
            // Without a card the clock demands: what would be played for nobody waits for it.
            if isOver || report.isCardLost { orders.isOpen = false }
            play(playedAt, orders)
            controls.taken.store(deck.taken, ordering: .releasing)
        }
        report.timeline = deck.timeline
        report.played = deck.played
        reports.publish(report)
    }

    @_noAllocation @_noLocks
    private mutating func play(_ moment: Instant, _ orders: RendererRequest) {
        deck.pull(output.period.rawValue, into: &sound, at: moment, orders)
        report.note(sound, output.period.rawValue, channelCount: output.format.channelCount)
        output.write(sound)
    }

    @_noAllocation @_noLocks
    private mutating func note(_ interruption: Interruption) {
        switch interruption.cause {
        case .xrun: report.xruns += 1
        case .suspended, .backlog, .resumed: break
        case .lost: report.isCardLost = true
        case .reopened: report.isCardLost = false
        }
    }
}
