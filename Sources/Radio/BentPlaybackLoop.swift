internal import Handoff
internal import Sound
internal import SoundCard
internal import Synchronization

/// The card's thread where what is heard is bent before: on each demand of the card it takes what the worker has left for it.
struct BentPlaybackLoop: ~Copyable, Sendable {
    private let controls: Controls
    private let news: BentPlaybackNews
    private var output: PlaybackOutput
    private var source: BentSource
    private var sound: Preallocated<Float>

    init(
        _ output: consuming PlaybackOutput, _ controls: Controls, _ news: BentPlaybackNews,
        pieces: consuming HandoffConsumer<RecordedSound>
    ) {
        sound = Preallocated(repeating: 0, count: output.period.rawValue * output.format.channelCount)
        source = BentSource(pieces)
        self.output = output
        self.controls = controls
        self.news = news
    }

    consuming func run(priority: RealTime) {
        output.fit(priority)
        while !controls.stops {
            switch output.wait() {
            case .interrupted(let interruption): news.note(interruption)
            case .demand:
                news.taken.add(source.fill(&sound), ordering: .releasing)
                if controls.isSpeakerMuted.load(ordering: .relaxed) {
                    for index in 0..<sound.count { sound[index] = 0 }
                }
                output.write(sound)
                news.demanded(output.period)
            }
        }
        output.finish()
    }
}

/// Pieces as a run of samples.
struct BentSource: ~Copyable, Sendable {
    private let pieces: HandoffConsumer<RecordedSound>
    private var piece = RecordedSound()
    private var used = 0

    init(_ pieces: consuming HandoffConsumer<RecordedSound>) { self.pieces = pieces }

    /// Silence where there is none. Returns how many samples were there.
    @_noAllocation @_noLocks
    mutating func fill(_ sound: inout Preallocated<Float>) -> Int {
        var filled = 0
        while filled < sound.count {
            if used == piece.count {
                guard pieces.pop(into: &piece) else { break }
                used = 0
            }
            sound[filled] = piece.samples[used]
            used += 1
            filled += 1
        }
        for index in filled..<sound.count { sound[index] = 0 }
        return filled
    }
}
