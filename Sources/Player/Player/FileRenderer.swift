internal import Glibc
internal import Synchronization
internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourMediaSource
internal import TenfourSystem

/// Writes the output to a file, faster than real time.
struct FileRenderer: ~Copyable, Sendable {
    private let now: @Sendable () -> Instant
    private var renderer: Renderer
    private var file: RenderedFile?
    private var endFade: EndFade
    private var samples: FixedBuffer<Float>
    private let channelCount: Int
    /// The maximum number of frames to write.
    private let limit: Int
    private var reports: LatestWriter<RendererReport>
    private var report: RendererReport

    private static let frameCount = 480
    /// The pause, in microseconds, before the tap is asked again whether it takes more.
    private static let tapInterval: UInt32 = 500

    /// Writes audio of `format` to `file`: at most `limit`, the end of which fades out over `fadeOut`.
    init(
        _ file: consuming RenderedFile?, format: LPCMFormat, limit: Duration?, fadeOut: Duration,
        blocks: consuming RingBufferConsumer<AudioBlock>, tap: consuming TapWriter?,
        reports: consuming LatestWriter<RendererReport>, now: @escaping @Sendable () -> Instant
    ) {
        self.file = file
        endFade = EndFade(fadeOut, format: format)
        renderer = Renderer(format: format, blocks: blocks, tap: tap, softensEdges: false)
        channelCount = format.channelCount
        self.limit = limit.map { FrameCount($0, at: format.rate).rawValue } ?? .max
        report = RendererReport(rate: format.rate)
        self.reports = reports
        self.now = now
        samples = FixedBuffer(repeating: 0, count: format.channelCount * Self.frameCount)
    }

    /// Whether the requested duration has been written.
    var hasEnough: Bool { renderer.played >= limit }

    /// Writes the audio in the ring to the file. If `isLast` is false, an incomplete block is kept until it is full.
    /// `tags` is called before the first audio.
    mutating func render(
        _ controls: RendererControls, isLast: Bool, tags: () -> AudioFileTags
    ) throws(StreamError) {
        if !controls.isOpen.load(ordering: .relaxed) {
            renderer.discard(before: controls.requested.generation)
            controls.consumed.store(renderer.consumed, ordering: .releasing)
        }
        while controls.isOpen.load(ordering: .relaxed), !hasEnough {
            let queued = min(controls.queued, Self.frameCount)
            guard queued == Self.frameCount || isLast && queued > 0 else { return }
            let frameCount = min(queued, limit - renderer.played)
            // Waits for the tap: nothing else slows down what is written faster than it is played.
            while !renderer.tapHasRoom(), !controls.isOver.load(ordering: .relaxed) { usleep(Self.tapInterval) }
            let before = renderer.consumed
            renderer.pull(frameCount, into: &samples, at: now(), controls.requested)
            controls.consumed.store(renderer.consumed, ordering: .releasing)
            renderer.wakeTap()
            // Writes nothing if the renderer has taken no frames from the ring.
            guard renderer.consumed != before else { return }
            report.timeline = renderer.timeline
            report.played = renderer.played
            report.record(samples, frameCount, channelCount: channelCount)
            reports.publish(report)
            let kept = endFade.process(&samples, frameCount: frameCount)
            try Self.write(kept * channelCount, of: samples, to: &file, tags)
        }
    }

    private static func write(
        _ count: Int, of samples: borrowing FixedBuffer<Float>, to file: inout RenderedFile?,
        _ tags: () -> AudioFileTags
    ) throws(StreamError) {
        if count > 0 { try file?.write(samples.span(in: 0..<count), tags: tags) }
    }

    /// Writes the end of the audio and closes the file. A second call does nothing.
    mutating func close() throws(StreamError) {
        guard var file = file.take() else { return }
        let end = endFade.finish()
        if !end.isEmpty { try file.write(end.span, tags: { AudioFileTags() }) }
        try file.close()
    }

    /// Closes the file. Ignores errors.
    mutating func finish() { try? close() }
}
