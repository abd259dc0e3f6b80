internal import Synchronization
public import TenfourAudioCore
internal import TenfourClocks
internal import TenfourMediaSource
internal import TenfourSoundCard
internal import TenfourSystem

/// The output of a player as an `AudioSource`, read at real-time pace, for example by a session that sends the audio.
///
/// Never blocks: returns silence while the player is paused or buffering. Ends when the player ends. For one thread at
/// a time.
public final class StreamedSource: AudioSource, @unchecked Sendable {
    public let format: LPCMFormat

    private let controls: RendererControls
    private var renderer: Renderer
    private var block: FixedBuffer<Float>
    private var reports: LatestWriter<RendererReport>
    private var report: RendererReport
    /// A function that returns whether the player has ended. It does not keep the player alive.
    private let isOver: @Sendable () -> Bool

    private static let frameCount = 480

    init(
        format: LPCMFormat, _ controls: RendererControls, blocks: consuming RingBufferConsumer<AudioBlock>,
        tap: consuming TapWriter?, reports: consuming LatestWriter<RendererReport>,
        isOver: @escaping @Sendable () -> Bool
    ) {
        self.format = format
        self.controls = controls
        self.reports = reports
        self.isOver = isOver
        renderer = Renderer(format: format, blocks: blocks, tap: tap)
        report = RendererReport(rate: format.rate)
        block = FixedBuffer(repeating: 0, count: Self.frameCount * format.channelCount)
    }

    public func read(into samples: inout MutableSpan<Float>) -> FrameCount {
        guard !isOver(), !controls.isOver.load(ordering: .relaxed) else { return .zero }
        let requested = samples.count / format.channelCount
        var given = 0
        while given < requested {
            let count = min(requested - given, Self.frameCount)
            renderer.pull(count, into: &block, at: MonotonicClock.now, controls.requested)
            for index in 0..<count * format.channelCount { samples[given * format.channelCount + index] = block[index] }
            report.record(block, count, channelCount: format.channelCount)
            given += count
        }
        renderer.wakeTap()
        controls.consumed.store(renderer.consumed, ordering: .releasing)
        report.timeline = renderer.timeline
        report.played = renderer.played
        reports.publish(report)
        return FrameCount(given)
    }
}
