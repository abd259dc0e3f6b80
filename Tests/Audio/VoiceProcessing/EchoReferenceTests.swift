import Glibc
import TenfourAudioCore
import TenfourSeededRandom
import TenfourSystem
import Testing

@testable import TenfourVoiceProcessing

/// Two cards that play and capture at clocks that differ, and say the times with an error.
struct TwoCards: ~Copyable {
    private(set) var reference: EchoReference
    /// The position of the wanted frame less that of the frame that was read, for each piece that was captured. Pieces
    /// near the edge of the sawtooth are left out.
    private(set) var errors: [Double] = []

    private var writer: PlayedAudioWriter
    private var random = SeededRandom(seed: 1)
    private var written = 0
    private var capturedCount = 0
    private let drift: Double
    private let jitter: Double
    private var delay = 0.02
    /// Whether silence is played.
    var isSilent = false

    /// A sawtooth whose value tells the position: it rises by 1 in a second.
    private static func value(at position: Int) -> Float { Float(position % 48_000) / 48_000 }

    init(drift: Double, jitter: Double = 0) {
        let ring = RingBuffer(capacity: PlayedAudio.ringCapacity, filler: PlayedAudio())
        writer = PlayedAudioWriter(ring.producer, format: .mono)
        reference = EchoReference(ring.consumer, captureRate: .opus, playbackRate: .opus)
        self.drift = drift * 1e-6
        self.jitter = jitter
    }

    private mutating func instant(_ seconds: Double) -> Instant {
        let error = jitter * (random.unit() * 2 - 1)
        return Instant(nanoseconds: 5_000_000_000 + Int64((seconds + error) * 1e9))
    }

    /// Adds to the delay of the playback card, as if it had stood still.
    mutating func stall(for seconds: Double) { delay += seconds }

    mutating func run(seconds: Int) {
        var played = FixedBuffer<Float>(repeating: 0, count: 240)
        var heard = [Float](repeating: 0, count: 960)
        for _ in 0..<50 * seconds {
            let time = Double(capturedCount) / (48_000 * (1 + drift))
            while Double(written) / 48_000 <= time + 0.02 {
                for index in 0..<240 { played[index] = isSilent ? 0 : Self.value(at: written + index) }
                writer.write(played, playedAt: instant(Double(written) / 48_000 + delay))
                written += 240
            }
            reference.begin(at: instant(time))
            var room = heard.mutableSpan
            reference.read(into: &room)
            capturedCount += 960
            let wanted = (time - delay + 0.004 + 480 / 48_000.0) * 48_000
            let error = wanted - Double(heard[480]) * 48_000
            let place = wanted.truncatingRemainder(dividingBy: 48_000)
            guard place > 60, place < 47_940 else { continue }
            errors.append(error - (error / 48_000).rounded() * 48_000)
        }
    }
}

@Test(arguments: [-200, -100, 0, 50, 100] as [Double])
func theReferenceFollowsTwoClocks(drift: Double) {
    var cards = TwoCards(drift: drift)
    cards.run(seconds: 12)
    #expect(abs(cards.reference.driftPartsPerMillion + drift) < 2)
    let (errors, jumps) = (cards.errors[150...], cards.reference.jumpCount)
    #expect((errors.map(abs).max() ?? 9) < 0.5 && jumps == 0)
}

@Test func timesThatJitterMoveTheReferenceSlowly() {
    var cards = TwoCards(drift: 80, jitter: 0.000_5)
    cards.run(seconds: 30)
    #expect(abs(cards.reference.driftPartsPerMillion + 80) < 20)
    let errors = Array(cards.errors[500...])
    let jumps = cards.reference.jumpCount
    #expect((errors.map(abs).max() ?? 99) < 6 && jumps == 0)
    let steps = zip(errors, errors.dropFirst()).map { abs($0 - $1) }
    #expect((steps.max() ?? 9) < 0.1)
}

@Test func aCardThatStoodStillIsFollowedAtOnce() {
    var cards = TwoCards(drift: 100)
    cards.run(seconds: 5)
    cards.stall(for: 0.05)
    cards.run(seconds: 3)
    let (errors, jumps) = (cards.errors[275...], cards.reference.jumpCount)
    #expect(jumps == 1)
    #expect((errors.map(abs).max() ?? 9) < 1)
}

@Test func afterSilenceTheReferenceIsWhereItWas() {
    var cards = TwoCards(drift: 100)
    cards.run(seconds: 3)
    cards.isSilent = true
    cards.run(seconds: 3)
    cards.isSilent = false
    cards.run(seconds: 1)
    let errors = cards.errors.suffix(40)
    #expect((errors.map(abs).max() ?? 9) < 1)
}

@Test func withoutPlaybackTheReferenceIsSilent() {
    let ring = RingBuffer(capacity: PlayedAudio.ringCapacity, filler: PlayedAudio())
    var reference = EchoReference(ring.consumer, captureRate: .opus, playbackRate: SampleRate(hertz: 44_100))
    var heard = [Float](repeating: 1, count: 960)
    for piece in 0..<100 {
        reference.begin(at: Instant(nanoseconds: Int64(piece) * 20_000_000))
        var room = heard.mutableSpan
        reference.read(into: &room)
    }
    #expect(heard.map(abs).max() == 0)
}
