internal import Sound
internal import Synchronization

/// What other threads tell the deck, and it them, while sound flows.
final class DeckControls: Sendable {
    /// What does not belong to it is not to be heard any more.
    let generation = Atomic<Int>(0)
    let isOpen = Atomic<Bool>(false)
    let volume = Atomic<UInt64>(GainWish(1).word)
    let fade = Atomic<UInt64>(GainWish.none.word)

    /// Frames that were ever put into the ring, and that were ever taken out of it. Wrap.
    let pushed = Atomic<Int>(0)
    let taken = Atomic<Int>(0)

    let isOver = Atomic<Bool>(false)

    /// Frames that wait in the ring.
    var waiting: Int { pushed.load(ordering: .acquiring) &- taken.load(ordering: .acquiring) }

    var orders: DeckOrders {
        DeckOrders(
            generation: generation.load(ordering: .acquiring), isOpen: isOpen.load(ordering: .acquiring),
            volume: GainWish(word: volume.load(ordering: .relaxed)),
            fade: GainWish(word: fade.load(ordering: .relaxed)))
    }
}

/// What is wanted of the deck.
struct DeckOrders: BitwiseCopyable, Sendable {
    var generation = 0
    var isOpen = false
    var volume = GainWish(1)
    var fade = GainWish.none
}

/// How the deck stands, as its thread last left it.
struct DeckReport: BitwiseCopyable, Sendable {
    var timeline = Timeline()
    /// Frames that sounded, ever.
    var played = 0
    /// Of what it gave last: 0…1.
    var meanSquare: Float = 0
    /// How loud it was of late.
    var trail = LevelTrail()
    /// How often the card ran dry since it was opened.
    var xruns = 0
    var isCardLost = false

    init(rate: SampleRate = .opus) { trail = LevelTrail(rate: rate) }

    /// Notes what the deck gave: `sound`, of so many frames.
    ///
    /// Vetted: nothing is freed here, though the compiler takes the end of a Span's life for that.
    @_semantics("no_performance_analysis")
    mutating func note(_ sound: borrowing Preallocated<Float>, _ frameCount: Int, channelCount: Int) {
        let samples = sound.span(in: 0..<frameCount * channelCount)
        meanSquare = Sound.meanSquare(of: samples)
        trail.append(samples, frameCount: frameCount)
    }
}
