import Foundation
import TenfourAudioCore

/// Returns a steady tone at `loudness` of full scale. Each channel has a pitch that is higher by a tenth of `hertz`
/// than the previous channel's.
func tone(_ hertz: Double, seconds: Double, loudness: Double = 0.4, in format: LPCMFormat = .mono) -> [Float] {
    (0..<Int(seconds * Double(format.rate.hertz)) * format.channelCount).map { index in
        let pitch = hertz * (1 + 0.1 * Double(index % format.channelCount))
        let frame = Double(index / format.channelCount)
        return Float(loudness * sin(2 * .pi * pitch * frame / Double(format.rate.hertz)))
    }
}

/// Returns the amplitude of the frequency `hertz` in `samples` (Goertzel algorithm).
func amplitude(of hertz: Double, in samples: some Collection<Float>, rate: Int = 48_000) -> Double {
    let step = 2 * cos(2 * .pi * hertz / Double(rate))
    var (last, before) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
        // A Hann window keeps other tones from leaking in.
        let window = 0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(samples.count))
        (last, before) = (Double(sample) * window + step * last - before, last)
    }
    let power = last * last + before * before - step * last * before
    return 4 * max(power, 0).squareRoot() / Double(max(samples.count, 1))
}

/// Returns the median of the amplitudes in tenths of a second. The jitter buffer may stretch or shorten received audio,
/// which changes the phase of a tone and so lowers its amplitude over a longer section.
func medianAmplitude(of hertz: Double, in samples: some Collection<Float>, rate: Int = 48_000) -> Double {
    let samples = Array(samples)
    let section = rate / 10
    let amplitudes = stride(from: 0, through: samples.count - section, by: section)
        .map { amplitude(of: hertz, in: samples[$0..<($0 + section)], rate: rate) }.sorted()
    return amplitudes.isEmpty ? 0 : amplitudes[amplitudes.count / 2]
}

/// Returns the root mean square.
func loudness(of samples: some Collection<Float>) -> Double {
    (samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(samples.count, 1))).squareRoot()
}

/// Returns one channel of interleaved samples.
func channel(_ channel: Int, of samples: [Float], in format: LPCMFormat) -> [Float] {
    stride(from: channel, to: samples.count, by: format.channelCount).map { samples[$0] }
}

/// Returns the longest run of near silence between the first and the last audible sample, in frames.
func longestGap(in samples: [Float], below floor: Float = 0.02) -> Int {
    guard let first = samples.firstIndex(where: { abs($0) >= floor }),
        let last = samples.lastIndex(where: { abs($0) >= floor })
    else { return samples.count }
    var (longest, run) = (0, 0)
    for index in first...last {
        run = abs(samples[index]) < floor ? run + 1 : 0
        longest = max(longest, run)
    }
    return longest
}
