internal import Synchronization
internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourMediaSource
internal import TenfourRings

/// Plays into a file, faster than it sounds.
struct FileRenderer: ~Copyable, Sendable {
    private let now: @Sendable () -> Instant
    private var deck: Renderer
    private var file: AudioFileWriter?
    private var sound: FixedBuffer<Float>
    private let channelCount: Int
    /// How much is wanted, in frames.
    private let limit: Int
    private var reports: LatestWriter<RendererReport>
    private var report: RendererReport

    private static let frameCount = 480

    init(
        path: String, format: LPCMFormat, limit: Duration?, blocks: consuming RingBufferConsumer<AudioBlock>,
        reports: consuming LatestWriter<RendererReport>, now: @escaping @Sendable () -> Instant
    ) throws(StreamError) {
        do {
            file = try AudioFileWriter(path: path, format: format, beginsWithSound: true)
        } catch {
            throw .unusable(error.description)
        }
        deck = Renderer(format: format, blocks: blocks)
        channelCount = format.channelCount
        self.limit = limit.map { FrameCount($0, at: format.rate).rawValue } ?? .max
        report = RendererReport(rate: format.rate)
        self.reports = reports
        self.now = now
        sound = FixedBuffer(repeating: 0, count: 2 * Self.frameCount)
    }

    /// Whether all is written that is wanted, though there may be more.
    var hasEnough: Bool { deck.played >= limit }

    /// All that the ring holds, or all but a rest that more will come behind.
    mutating func render(_ controls: RendererControls, isLast: Bool) throws(StreamError) {
        if !controls.isOpen.load(ordering: .relaxed) {
            deck.forget(before: controls.orders.generation)
            controls.taken.store(deck.taken, ordering: .releasing)
        }
        while controls.isOpen.load(ordering: .relaxed), !hasEnough {
            let waiting = min(controls.waiting, Self.frameCount)
            guard waiting == Self.frameCount || isLast && waiting > 0 else { return }
            let frameCount = min(waiting, limit - deck.played)
            let before = deck.taken
            deck.pull(frameCount, into: &sound, at: now(), controls.orders)
            controls.taken.store(deck.taken, ordering: .releasing)
            // What was skipped is no sound, and what the deck has not is no silence.
            guard deck.taken != before else { return }
            report.timeline = deck.timeline
            report.played = deck.played
            report.note(sound, frameCount, channelCount: channelCount)
            reports.publish(report)
            try Self.write(frameCount * channelCount, of: sound, to: &file)
        }
    }

    private static func write(
        _ count: Int, of sound: borrowing FixedBuffer<Float>, to file: inout AudioFileWriter?
    ) throws(StreamError) {
        do throws(AudioFileError) {
            try file?.write(sound.span(in: 0..<count))
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

    /// As `close`, but what goes wrong is not said.
    mutating func finish() { try? close() }
}
