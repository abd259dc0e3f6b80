import Glibc
import TenfourAudioCore

/// Returns a sine at 0.5 of full scale, the same in every channel.
func tone(_ hertz: Double, _ frameCount: Int, in format: LPCMFormat = .mono) -> [Float] {
    let step = 2 * Double.pi * hertz / Double(format.rate.hertz)
    return (0..<frameCount * format.channelCount).map { Float(0.5 * sin(step * Double($0 / format.channelCount))) }
}

/// Returns a signal that a speech codec treats as speech: glottal pulses of varying pitch through three formants, in
/// words of three syllables of 250 ms with pauses of 350 ms between the words. Mono at 48 kHz, the same in every
/// call.
func speech(_ frameCount: Int) -> [Float] {
    var phase = 0.0
    var formants = [Resonator(700, width: 90), Resonator(1_220, width: 110), Resonator(2_600, width: 160)]
    return (0..<frameCount).map { frame in
        let time = Double(frame) / 48_000
        phase += (120 + 30 * sin(2 * .pi * 1.3 * time)) / 48_000
        if phase >= 1 { phase -= 1 }
        let pulse = phase < 0.4 ? sin(.pi * phase / 0.4) - 0.25 : -0.25
        let syllable = time.truncatingRemainder(dividingBy: 0.3)
        let isPause = syllable >= 0.25 || time.truncatingRemainder(dividingBy: 1.2) >= 0.9
        let loudness = isPause ? 0 : sin(.pi * syllable / 0.25)
        let sound = formants.indices.reduce(0) { $0 + formants[$1].pass(pulse) }
        return Float(0.12 * loudness * sound)
    }
}

private struct Resonator {
    private let gain, first, second: Double
    private var before = 0.0
    private var beforeThat = 0.0

    init(_ hertz: Double, width: Double) {
        let radius = exp(-.pi * width / 48_000)
        first = 2 * radius * cos(2 * .pi * hertz / 48_000)
        second = -radius * radius
        gain = 1 - radius
    }

    mutating func pass(_ sample: Double) -> Double {
        let sound = gain * sample + first * before + second * beforeThat
        (before, beforeThat) = (sound, before)
        return sound
    }
}

/// Returns the root mean square.
func loudness(of samples: some Collection<Float>) -> Double {
    (samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(samples.count, 1))).squareRoot()
}

/// Returns the correlation of two signals, −1…1, at the best shift of up to one millisecond.
func likeness(_ one: ArraySlice<Float>, _ other: ArraySlice<Float>) -> Double {
    let (one, other) = (Array(one), Array(other))
    let edge = 48
    let middle = one[edge..<one.count - edge]
    return (-edge...edge).map { shift in
        let shifted = other[edge + shift..<other.count - edge + shift]
        let product = zip(middle, shifted).reduce(0) { $0 + Double($1.0) * Double($1.1) } / Double(middle.count)
        return product / max(loudness(of: middle) * loudness(of: shifted), 1e-12)
    }.max()!
}

/// Returns the frequency of a steady tone, from the zero crossings of its first channel.
func frequency(of samples: ArraySlice<Float>, in format: LPCMFormat = .mono) -> Double {
    let channel = stride(from: samples.startIndex, to: samples.endIndex, by: format.channelCount).map { samples[$0] }
    var crossings: [Double] = []
    for (index, (now, next)) in zip(channel, channel.dropFirst()).enumerated() where now < 0 && next >= 0 {
        crossings.append(Double(index) + Double(-now / (next - now)))
    }
    guard crossings.count > 1 else { return 0 }
    return Double(crossings.count - 1) / (crossings.last! - crossings.first!) * Double(format.rate.hertz)
}
