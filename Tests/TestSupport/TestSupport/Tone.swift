import Glibc

/// A steady tone found in a recording, and its defects.
///
/// The tone is compared with an ideal one every 2.5 ms: a drop of its strength reveals a hole, a jump of its phase a
/// seam, where audio was left out, repeated or joined wrongly.
public struct Tone: Sendable, CustomStringConvertible {
    /// The frequency in hertz.
    public var frequency: Double
    /// The RMS level of the whole tone in dBFS: a sine at full scale has −3.
    public var level: Double
    /// The start of the tone in the recording and its duration including holes, both in seconds.
    public var start: Double
    public var duration: Double
    /// The positions of holes and seams, in seconds from the start of the tone; the first and last tenth of a second
    /// are not searched.
    public var holes: [Double]
    public var seams: [Double]

    /// A frequency at which no Opus packet contains a whole number of periods: 2.5 ms contain 2.3, 60 ms contain
    /// 55.2. A missing or repeated packet therefore always shifts the phase.
    public static let telling = 920.0

    /// The smallest phase jump that counts as a seam, in radians: 0.13 of a period. A missing packet causes 0.2 or
    /// more; the difference allows for shifts by concealment and the resampler.
    private static let seam = 0.8
    private static let margin = 40

    /// Returns a tone of this duration; half of full scale is −9.0 dBFS.
    public static func samples(
        _ frequency: Double = telling, seconds: Double = 4, rate: Int = 48_000, amplitude: Double = 0.5
    ) -> [Float] {
        (0..<Int(seconds * Double(rate))).map {
            Float(amplitude * sin(2 * .pi * frequency * Double($0) / Double(rate)))
        }
    }

    /// Finds a tone of about `frequency`; nil if there is none of at least a quarter of a second.
    public init?(near frequency: Double = telling, in samples: [Float], rate: Int = 48_000) {
        let hop = rate / 400
        let points = Self.points(frequency, samples, rate, hop: hop)
        let strengths = points.map(\.strength).sorted()
        guard let strongest = strengths.last, strongest > 0.001 else { return nil }
        let loud = strengths.filter { $0 > strongest / 4 }
        let usual = loud[loud.count / 2]
        guard let first = points.firstIndex(where: { $0.strength > usual / 2 }),
            let last = points.lastIndex(where: { $0.strength > usual / 2 }), last - first >= 100
        else { return nil }

        let inner = first + Self.margin..<last - Self.margin
        holes = inner.filter { points[$0].strength < usual / 4 }.map { Double($0 - first) / 400 }
        // Each window is compared with the third window after it, with which it shares no samples.
        let turns = inner.dropLast(3).map { Self.turn(from: points[$0].phase, to: points[$0 + 3].phase) }
        let usualTurn = turns.sorted()[turns.count / 2]
        var seams: [Double] = []
        for (index, turn) in turns.enumerated() where abs(Self.turn(from: usualTurn, to: turn)) > Self.seam {
            let moment = Double(Self.margin + index) / 400
            if seams.last.map({ moment - $0 > 0.02 }) ?? true { seams.append(moment) }
        }
        self.seams = seams
        let steady = turns.filter { abs(Self.turn(from: usualTurn, to: $0)) < 0.4 }
        self.frequency = frequency + steady.reduce(0, +) / Double(steady.count) / (2 * .pi) * 400 / 3
        level = 20 * log10(usual / 2.0.squareRoot())
        start = Double(first) / 400
        duration = Double(last - first + 1) / 400
    }

    public var description: String {
        func text(_ number: Double) -> String { String(Double(Int((number * 1_000).rounded())) / 1_000) }
        return "\(text(frequency)) Hz, \(text(level)) dBFS, \(text(duration)) s from \(text(start)) s, "
            + "holes at \(holes.map(text)), seams at \(seams.map(text))"
    }

    private struct Point {
        var strength: Double
        var phase: Double
    }

    /// Returns strength and phase of each window of 5 ms, weighted by a Hann window.
    private static func points(_ frequency: Double, _ samples: [Float], _ rate: Int, hop: Int) -> [Point] {
        let length = 2 * hop
        let window = (0..<length).map { 0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(length)) }
        let step = 2 * .pi * frequency / Double(rate)
        let cosines = (0..<length).map { window[$0] * cos(step * Double($0)) }
        let sines = (0..<length).map { window[$0] * sin(step * Double($0)) }
        return stride(from: 0, to: samples.count - length, by: hop).map { start in
            var (real, imaginary) = (0.0, 0.0)
            for index in 0..<length {
                let sample = Double(samples[start + index])
                real += sample * cosines[index]
                imaginary -= sample * sines[index]
            }
            // The factor 4 corrects for the Hann window, whose mean is a half, and for the tone's spectrum, half of
            // which is at positive frequencies.
            let strength = (real * real + imaginary * imaginary).squareRoot() * 4 / Double(length)
            return Point(strength: strength, phase: atan2(imaginary, real) - step * Double(start))
        }
    }

    private static func turn(from one: Double, to other: Double) -> Double { remainder(other - one, 2 * .pi) }
}
