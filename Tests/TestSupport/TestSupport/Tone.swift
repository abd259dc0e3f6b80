import Glibc

/// A steady tone found in a recording, and what is wrong with it.
///
/// Every 2.5 ms the tone is compared with an ideal one: its strength there tells a hole, its phase a seam, where sound was
/// left out, doubled or put together wrongly.
public struct Tone: Sendable, CustomStringConvertible {
    /// In hertz.
    public var frequency: Double
    /// Of the whole tone as RMS, in dBFS: a sine at full scale has −3.
    public var level: Double
    /// In seconds from the start of the recording, and how long it lasts, holes included.
    public var start: Double
    public var duration: Double
    /// Moments, in seconds from the start of the tone, without the tenth of a second at either end.
    public var holes: [Double]
    public var seams: [Double]

    /// A frequency for which every length of an Opus packet ends between two periods: 2.5 ms are 2.3 periods, 60 ms 55.2. One
    /// packet too few or too many is then never in phase.
    public static let telling = 920.0

    /// Two fifths of a period, less what concealment and the resampler may shift it by.
    private static let seam = 0.8
    private static let margin = 40

    /// Half of full scale for `seconds`: −9.0 dBFS.
    public static func samples(
        _ frequency: Double = telling, seconds: Double = 4, rate: Int = 48_000, amplitude: Double = 0.5
    ) -> [Float] {
        (0..<Int(seconds * Double(rate))).map {
            Float(amplitude * sin(2 * .pi * frequency * Double($0) / Double(rate)))
        }
    }

    /// Looks for a tone of about `frequency`; nil where there is none of a quarter of a second.
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
        // From a window to the third after it, which shares no sample with it.
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

    /// Over 5 ms each, weighed by a Hann window.
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
            // A Hann window has a mean of a half, and a tone half of its strength at its own frequency.
            let strength = (real * real + imaginary * imaginary).squareRoot() * 4 / Double(length)
            return Point(strength: strength, phase: atan2(imaginary, real) - step * Double(start))
        }
    }

    private static func turn(from one: Double, to other: Double) -> Double { remainder(other - one, 2 * .pi) }
}
