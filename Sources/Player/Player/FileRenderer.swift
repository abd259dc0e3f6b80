internal import Synchronization
internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourMediaSource
internal import TenfourRings

/// Writes the output to a file, faster than real time.
struct FileRenderer: ~Copyable, Sendable {
    private let now: @Sendable () -> Instant
    private var renderer: Renderer
    private var file: AudioFileWriter?
    private var samples: FixedBuffer<Float>
    private let channelCount: Int
    /// The maximum number of frames to write.
    private let limit: Int
    private var reports: LatestWriter<RendererReport>
    private var report: RendererReport

    private static let frameCount = 480

    init(
        path: String, format: LPCMFormat, limit: Duration?, blocks: consuming RingBufferConsumer<AudioBlock>,
        reports: consuming LatestWriter<RendererReport>, now: @escaping @Sendable () -> Instant
    ) throws(StreamError) {
        do {
            file = try AudioFileWriter(path: path, format: format, createsOnFirstWrite: true)
        } catch {
            throw .unusable(error.description)
        }
        renderer = Renderer(format: format, blocks: blocks)
        channelCount = format.channelCount
        self.limit = limit.map { FrameCount($0, at: format.rate).rawValue } ?? .max
        report = RendererReport(rate: format.rate)
        self.reports = reports
        self.now = now
        samples = FixedBuffer(repeating: 0, count: 2 * Self.frameCount)
    }

    /// Whether the requested duration has been written.
    var hasEnough: Bool { renderer.played >= limit }

    /// Writes the audio in the ring to the file. If `isLast` is false, an incomplete block is kept until it is full.
    mutating func render(_ controls: RendererControls, isLast: Bool) throws(StreamError) {
        if !controls.isOpen.load(ordering: .relaxed) {
            renderer.discard(before: controls.requested.generation)
            controls.consumed.store(renderer.consumed, ordering: .releasing)
        }
        while controls.isOpen.load(ordering: .relaxed), !hasEnough {
            let queued = min(controls.queued, Self.frameCount)
            guard queued == Self.frameCount || isLast && queued > 0 else { return }
            let frameCount = min(queued, limit - renderer.played)
            let before = renderer.consumed
            renderer.pull(frameCount, into: &samples, at: now(), controls.requested)
            controls.consumed.store(renderer.consumed, ordering: .releasing)
            // Writes nothing if the renderer has taken no frames from the ring.
            guard renderer.consumed != before else { return }
            report.timeline = renderer.timeline
            report.played = renderer.played
            report.record(samples, frameCount, channelCount: channelCount)
            reports.publish(report)
            try Self.write(frameCount * channelCount, of: samples, to: &file)
        }
    }

    private static func write(
        _ count: Int, of samples: borrowing FixedBuffer<Float>, to file: inout AudioFileWriter?
    ) throws(StreamError) {
        do throws(AudioFileError) {
            try file?.write(samples.span(in: 0..<count))
        } catch {
            throw .unusable(error.description)
        }
    }

    mutating func close() throws(StreamError) {
        guard var file = file.take() else { return }
        do {
            try file.close()
        } catch {
            throw .unusable(error.description)
        }
    }

    /// Closes the file. Ignores errors.
    mutating func finish() { try? close() }
}
