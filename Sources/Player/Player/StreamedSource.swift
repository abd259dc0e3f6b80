internal import Synchronization
public import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourRings
internal import TenfourSoundCard

/// What a streamer plays, for whoever asks for it at the pace of the sound: a station that sends it.
///
/// Never waits: gives silence while the streamer is paused or buffers, and ends with it. One thread at a time.
public final class StreamedSource: AudioSource, @unchecked Sendable {
    public let format: LPCMFormat

    private let controls: RendererControls
    private var deck: Renderer
    private var sound: FixedBuffer<Float>
    private var reports: LatestWriter<RendererReport>
    private var report: RendererReport
    /// Of the streamer, which need not be there any more.
    private let isOver: @Sendable () -> Bool

    private static let frameCount = 480

    init(
        format: LPCMFormat, _ controls: RendererControls, blocks: consuming RingBufferConsumer<AudioBlock>,
        reports: consuming LatestWriter<RendererReport>, isOver: @escaping @Sendable () -> Bool
    ) {
        self.format = format
        self.controls = controls
        self.reports = reports
        self.isOver = isOver
        deck = Renderer(format: format, blocks: blocks)
        report = RendererReport(rate: format.rate)
        sound = FixedBuffer(repeating: 0, count: Self.frameCount * format.channelCount)
    }

    public func read(into samples: inout MutableSpan<Float>) -> FrameCount {
        guard !isOver(), !controls.isOver.load(ordering: .relaxed) else { return .zero }
        let wanted = samples.count / format.channelCount
        var given = 0
        while given < wanted {
            let count = min(wanted - given, Self.frameCount)
            deck.pull(count, into: &sound, at: monotonicNow(), controls.orders)
            for index in 0..<count * format.channelCount { samples[given * format.channelCount + index] = sound[index] }
            report.note(sound, count, channelCount: format.channelCount)
            given += count
        }
        controls.taken.store(deck.taken, ordering: .releasing)
        report.timeline = deck.timeline
        report.played = deck.played
        reports.publish(report)
        return FrameCount(given)
    }
}
