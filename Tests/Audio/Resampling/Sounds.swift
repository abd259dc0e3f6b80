import Glibc
import TenfourAudioCore
import TenfourResampling

/// A sine at 0.5 of full scale, mono.
func tone(_ hertz: Double, _ frameCount: Int, at rate: SampleRate = .opus) -> [Float] {
    (0..<frameCount).map { Float(0.5 * sin(2 * Double.pi * hertz * Double($0) / Double(rate.hertz))) }
}

extension RateConverter {
    /// All of `sound` converted, given in pieces of `step` frames with room for `room`.
    mutating func convert(
        _ sound: [Float], channelCount: Int = 1, step: Int = 960, room: Int = 8_192,
        correction: (Int) -> Float? = { _ in nil }
    ) -> [Float] {
        var converted: [Float] = []
        var place = [Float](repeating: 0, count: room * channelCount)
        for (index, start) in stride(from: 0, to: sound.count, by: step * channelCount).enumerated() {
            if let partsPerMillion = correction(index) { correct(by: partsPerMillion) }
            let end = min(start + step * channelCount, sound.count)
            var next = start
            while next < end {
                var span = place.mutableSpan
                let (consumed, produced) = process(sound.span.extracting(next..<end), into: &span)
                next += consumed.rawValue * channelCount
                converted += place[..<(produced.rawValue * channelCount)]
            }
        }
        return converted
    }
}

/// What is left of a tone, in dB below it, behind a filter that lets nothing of its frequency through: the largest sample.
/// A tone is foretold by its last two samples, a click is not.
func worstResidue(in sound: some BidirectionalCollection<Float>, of hertz: Double, at rate: SampleRate = .opus)
    -> Double
{
    let tone = 2 * cos(2 * Double.pi * hertz / Double(rate.hertz))
    var (last, beforeLast) = (0.0, 0.0)
    var worst = 0.0
    for (index, sample) in sound.enumerated() {
        // The tone begins with a click of its own.
        if index > 1_000 { worst = max(worst, abs(Double(sample) - tone * last + beforeLast)) }
        (last, beforeLast) = (Double(sample), last)
    }
    return 20 * log10(worst / 0.5)
}
