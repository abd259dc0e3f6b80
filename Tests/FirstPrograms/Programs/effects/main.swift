import Glibc
import TenfourAudioCore
import TenfourEffects

func level(of samples: [Float]) -> Float {
    Level(rootMeanSquareOf: samples.span).decibels
}

// An equaliser that lowers the bass notes, and then a volume control.
let bass = EqualizerBand(.lowShelf, frequency: 300, gain: -12)
for frequency in [50, 100, 300, 1000, 5000] {
    var chain = EffectChain(
        Equalizer(format: .mono, bands: [bass]), Volume(format: .mono, gain: 0.5))

    let tone = (0..<48_000).map { index in
        0.5 * sin(2 * .pi * Float(frequency) * Float(index) / 48_000)
    }
    var output = [Float](repeating: 0, count: tone.count)
    var samples = output.mutableSpan
    _ = chain.process(tone.span, into: &samples)

    let gain = level(of: output) - level(of: tone)
    print("\(frequency) Hz: \(Int(gain.rounded())) dB")
}
