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
    /// How much is wanted, in frames.
    private let limit: Int
    private var reports: LatestWriter<DeckReport>
    private var report: DeckReport

    private static let frameCount = 480

    init(
        path: String, format: LPCMFormat, limit: Duration?, blocks: consuming HandoffConsumer<SoundBlock>,
        reports: consuming LatestWriter<DeckReport>, now: @escaping @Sendable () -> Instant
    ) throws(StreamError) {
        do {
            file = try SoundFileWriter(path: path, format: format, beginsWithSound: true)
        } catch {
            throw .unusable(error.description)
        }
        deck = Deck(format: format, blocks: blocks)
        channelCount = format.channelCount
        self.limit = limit.map { FrameCount($0, at: format.rate).rawValue } ?? .max
        report = DeckReport(rate: format.rate)
        self.reports = reports
        self.now = now
        sound = Preallocated(repeating: 0, count: 2 * Self.frameCount)
    }

    /// Whether all is written that is wanted, though there may be more.
    var hasEnough: Bool { deck.played >= limit }

    /// All that the ring holds, or all but a rest that more will come behind.
    mutating func render(_ controls: DeckControls, isLast: Bool) throws(StreamError) {
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
