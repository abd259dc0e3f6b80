internal import Feed
internal import Handoff
internal import Sound
internal import SoundFile
internal import Synchronization

/// Plays into a file, faster than it sounds.
struct Renderer: ~Copyable, Sendable {
    private let now: @Sendable () -> Instant
    private var deck: Deck
    private var file: SoundFileWriter?
    private var sound: Preallocated<Float>
    private let channelCount: Int
    private var reports: LatestWriter<DeckReport>
    private var report: DeckReport

    private static let frameCount = 480

    init(
        path: String, format: LPCMFormat, blocks: consuming HandoffConsumer<SoundBlock>,
        reports: consuming LatestWriter<DeckReport>, now: @escaping @Sendable () -> Instant
    ) throws(StreamError) {
        do {
            file = try SoundFileWriter(path: path, format: format, beginsWithSound: true)
        } catch {
            throw .unusable(error.description)
        }
        deck = Deck(format: format, blocks: blocks)
        channelCount = format.channelCount
        report = DeckReport(rate: format.rate)
        self.reports = reports
        self.now = now
        sound = Preallocated(repeating: 0, count: 2 * Self.frameCount)
    }

    /// All that the ring holds, or all but a rest that more will come behind.
    mutating func render(_ controls: DeckControls, isLast: Bool) throws(StreamError) {
        while controls.isOpen.load(ordering: .relaxed) {
            let frameCount = min(controls.waiting, Self.frameCount)
            guard frameCount == Self.frameCount || isLast && frameCount > 0 else { return }
            let before = deck.taken
            deck.pull(frameCount, into: &sound, at: now(), controls.orders)
            controls.taken.store(deck.taken, ordering: .releasing)
            // What was skipped is no sound, and what the deck has not is no silence.
            guard deck.taken != before else { return }
            report.timeline = deck.timeline
            report.note(sound, frameCount, channelCount: channelCount)
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
