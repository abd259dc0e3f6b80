import Glibc
import TenfourAudioCore
import TenfourSeededRandom
import TenfourSystem
import TenfourVoiceProcessing

/// A talker made of noise: syllables of a fifth of a second through two resonances, with pauses. `level` is the root
/// mean square.
func syllables(_ count: Int, seed: UInt64, level: Float = 0.05) -> [Float] {
    var random = SeededRandom(seed: seed)
    var samples: [Float] = []
    samples.reserveCapacity(count)
    var (one, two): ((Float, Float), (Float, Float)) = ((0, 0), (0, 0))
    var (envelope, target): (Float, Float) = (0, 1)
    for index in 0..<count {
        if index % 9_600 == 0 { target = random.happens(0.75) ? Float(0.4 + random.unit()) : 0 }
        envelope += 0.001 * (target - envelope)
        let noise = Float(random.unit() - 0.5)
        let low = noise + 1.97 * one.0 - 0.976 * one.1
        let high = noise + 1.86 * two.0 - 0.93 * two.1
        (one, two) = ((low, one.0), (high, two.0))
        samples.append((0.02 * low + 0.1 * high + 0.1 * noise) * envelope)
    }
    let power = samples.reduce(0) { $0 + $1 * $1 } / Float(count)
    let scale = level / max(power.squareRoot(), 1e-9)
    return samples.map { $0 * scale }
}

/// The way from a loudspeaker to a microphone: forty reflections within 100 ms, ever weaker.
struct EchoPath {
    private var taps: [(delay: Int, gain: Float)] = []

    init(seed: UInt64, delay: Int = 200) {
        var random = SeededRandom(seed: seed)
        taps.append((delay, 0.5))
        for _ in 0..<40 {
            let later = random.unit()
            taps.append((delay + Int(later * 4_800), Float((random.unit() - 0.5) * 0.5 * exp(-5 * later))))
        }
    }

    func echo(of played: [Float]) -> [Float] {
        var result = [Float](repeating: 0, count: played.count)
        for tap in taps {
            for index in tap.delay..<played.count { result[index] += tap.gain * played[index - tap.delay] }
        }
        return result
    }
}

/// An echo canceller with its gate, fed with aligned audio block by block.
struct Cancellation: ~Copyable {
    private var canceller = EchoCanceller()
    private var gate: ResidualEchoGate?

    init(isGated: Bool = false) { gate = isGated ? ResidualEchoGate() : nil }

    mutating func process(_ near: [Float], played: [Float]) -> [Float] {
        var result: [Float] = []
        var echo = [Float](repeating: 0, count: EchoCanceller.blockLength)
        for start in stride(from: 0, through: near.count - EchoCanceller.blockLength, by: EchoCanceller.blockLength) {
            var block = Array(near[start..<start + EchoCanceller.blockLength])
            let reference = Array(played[start..<start + EchoCanceller.blockLength])
            var samples = block.mutableSpan
            var estimate = echo.mutableSpan
            canceller.process(&samples, reference: reference.span, echo: &estimate)
            gate?.process(&samples, echo: echo.span)
            result += block
        }
        return result
    }
}

/// Returns the mean power of a part of `samples` in decibels.
func decibels(_ samples: some Collection<Float>) -> Float {
    10 * log10f(samples.reduce(0) { $0 + $1 * $1 } / Float(max(samples.count, 1)) + 1e-12)
}

func sum(_ one: [Float], _ other: [Float]) -> [Float] { zip(one, other).map { $0 + $1 } }
func difference(_ one: [Float], _ other: [Float]) -> [Float] { zip(one, other).map { $0 - $1 } }
