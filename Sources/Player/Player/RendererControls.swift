internal import Synchronization
internal import TenfourAudioCore

/// The values that other threads exchange with the renderer while it runs.
final class RendererControls: Sendable {
    /// The present generation. Audio of earlier generations must not be heard.
    let generation = Atomic<Int>(0)
    let isOpen = Atomic<Bool>(false)
    let volume = Atomic<UInt64>(GainRamp(1).word)
    let fade = Atomic<UInt64>(GainRamp.none.word)

    /// The number of frames pushed into the ring in total. It wraps.
    let pushed = Atomic<Int>(0)
    /// The number of frames taken from the ring in total. It wraps.
    let consumed = Atomic<Int>(0)

    let isOver = Atomic<Bool>(false)

    /// The number of frames in the ring.
    var queued: Int { pushed.load(ordering: .acquiring) &- consumed.load(ordering: .acquiring) }

    var requested: RendererRequest {
        RendererRequest(
            generation: generation.load(ordering: .acquiring), isOpen: isOpen.load(ordering: .acquiring),
            volume: GainRamp(word: volume.load(ordering: .relaxed)),
            fade: GainRamp(word: fade.load(ordering: .relaxed)))
    }
}

/// The requested state of the renderer.
struct RendererRequest: BitwiseCopyable, Sendable {
    var generation = 0
    var isOpen = false
    var volume = GainRamp(1)
    var fade = GainRamp.none
}

/// The renderer's state after its last call.
struct RendererReport: BitwiseCopyable, Sendable {
    var timeline = PlaybackTimeline()
    /// The number of frames played in total.
    var played = 0
    /// The mean square of the samples rendered last, 0…1.
    var meanSquare: Float = 0
    /// The levels of the audio rendered in the last seconds.
    var levelHistory = LevelHistory()
    /// The number of underruns of the card since it was opened.
    var xruns = 0
    var isCardLost = false

    init(rate: SampleRate = .opus) { levelHistory = LevelHistory(rate: rate) }

    /// Records the level of `frameCount` rendered frames.
    ///
    /// Exempt from the allocation check: the compiler treats the end of a Span's lifetime as a deallocation, but
    /// nothing is freed.
    @_semantics("no_performance_analysis")
    mutating func record(_ samples: borrowing FixedBuffer<Float>, _ frameCount: Int, channelCount: Int) {
        let samples = samples.span(in: 0..<frameCount * channelCount)
        meanSquare = TenfourAudioCore.meanSquare(of: samples)
        levelHistory.append(samples, frameCount: frameCount)
    }
}
