import Glibc
import TenfourAudioCore
import TenfourResampling

/// Returns a mono sine at 0.5 of full scale.
func tone(_ hertz: Double, _ frameCount: Int, at rate: SampleRate = .opus) -> [Float] {
    (0..<frameCount).map { Float(0.5 * sin(2 * Double.pi * hertz * Double($0) / Double(rate.hertz))) }
}

extension RateConverter {
    /// Converts all of `sound` in pieces of `step` frames, each with room for `room` frames of output.
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

/// Returns the largest sample that remains after a filter removes a tone of this frequency, in dB relative to the
/// tone. Each sample of a tone is predicted by the last two; a click is not.
func worstResidue(in sound: some BidirectionalCollection<Float>, of hertz: Double, at rate: SampleRate = .opus)
    -> Double
{
    let tone = 2 * cos(2 * Double.pi * hertz / Double(rate.hertz))
    var (last, beforeLast) = (0.0, 0.0)
    var worst = 0.0
    for (index, sample) in sound.enumerated() {
        // Skips the start, where the tone's onset is itself a click.
        if index > 1_000 { worst = max(worst, abs(Double(sample) - tone * last + beforeLast)) }
        (last, beforeLast) = (Double(sample), last)
    }
    return 20 * log10(worst / 0.5)
}
