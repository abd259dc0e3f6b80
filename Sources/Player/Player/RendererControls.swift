internal import Synchronization
internal import TenfourAudioCore

/// What other threads tell the deck, and it them, while sound flows.
final class RendererControls: Sendable {
    /// What does not belong to it is not to be heard any more.
    let generation = Atomic<Int>(0)
    let isOpen = Atomic<Bool>(false)
    let volume = Atomic<UInt64>(GainRamp(1).word)
    let fade = Atomic<UInt64>(GainRamp.none.word)

    /// Frames that were ever put into the ring, and that were ever taken out of it. Wrap.
    let pushed = Atomic<Int>(0)
    let taken = Atomic<Int>(0)

    let isOver = Atomic<Bool>(false)

    /// Frames that wait in the ring.
    var waiting: Int { pushed.load(ordering: .acquiring) &- taken.load(ordering: .acquiring) }

    var orders: RendererRequest {
        RendererRequest(
            generation: generation.load(ordering: .acquiring), isOpen: isOpen.load(ordering: .acquiring),
            volume: GainRamp(word: volume.load(ordering: .relaxed)),
            fade: GainRamp(word: fade.load(ordering: .relaxed)))
    }
}

/// What is wanted of the deck.
struct RendererRequest: BitwiseCopyable, Sendable {
    var generation = 0
    var isOpen = false
    var volume = GainRamp(1)
    var fade = GainRamp.none
}

/// How the deck stands, as its thread last left it.
struct RendererReport: BitwiseCopyable, Sendable {
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
    mutating func note(_ sound: borrowing FixedBuffer<Float>, _ frameCount: Int, channelCount: Int) {
        let samples = sound.span(in: 0..<frameCount * channelCount)
        meanSquare = TenfourAudioCore.meanSquare(of: samples)
        trail.append(samples, frameCount: frameCount)
    }
}
