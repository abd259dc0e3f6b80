internal import Feed
internal import Handoff
internal import Sound
internal import SoundFile
internal import Synchronization

/// Plays into a file, faster than it sounds.
struct Renderer: ~Copyable, Sendable {
    private let path: String
    private let now: @Sendable () -> Instant
    private var blocks: HandoffConsumer<SoundBlock>?
    private var deck: Deck?
    private var file: SoundFileWriter?
    private var sound: Preallocated<Float>
    private var channelCount = 1
    private var reports: LatestWriter<DeckReport>
    private var report = DeckReport()

    private static let frameCount = 480

    init(
        path: String, blocks: consuming HandoffConsumer<SoundBlock>, reports: consuming LatestWriter<DeckReport>,
        now: @escaping @Sendable () -> Instant
    ) {
        self.path = path
        self.blocks = consume blocks
        self.reports = reports
        self.now = now
        sound = Preallocated(repeating: 0, count: 2 * Self.frameCount)
    }

    mutating func begin(_ format: LPCMFormat) throws(StreamError) {
        guard let blocks = blocks.take() else { return }
        deck = Deck(format: format, blocks: blocks)
        channelCount = format.channelCount
        do {
            file = try SoundFileWriter(path: path, format: format, beginsWithSound: true)
        } catch {
            throw .unusable(error.description)
        }
    }

    /// All that the ring holds, or all but a rest that more will come behind.
    mutating func render(_ controls: DeckControls, isLast: Bool) throws(StreamError) {
        while controls.isOpen.load(ordering: .relaxed) {
            let frameCount = min(controls.waiting, Self.frameCount)
            guard frameCount == Self.frameCount || isLast && frameCount > 0 else { return }
            let before = deck?.taken ?? 0
            deck?.pull(frameCount, into: &sound, at: now(), controls.orders)
            let taken = deck?.taken ?? 0
            controls.taken.store(taken, ordering: .releasing)
            // What was skipped is no sound, and what the deck has not is no silence.
            guard taken != before else { return }
            report.timeline = deck?.timeline ?? Timeline()
            report.meanSquare = meanSquare(of: sound.span(in: 0..<frameCount * channelCount))
            reports.publish(report)
            try Self.write(frameCount * channelCount, of: sound, to: &file)
        }
    }

    private static func write(
        _ count: Int, of sound: borrowing Preallocated<Float>, to file: inout SoundFileWriter?
    ) throws(StreamError) {
        do throws(SoundFileError) {
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
