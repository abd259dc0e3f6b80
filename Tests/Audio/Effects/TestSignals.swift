import Glibc
import TenfourAudioCore
import TenfourEffects
import TenfourSeededRandom
import TestSupport

/// Signals for the tests, and what is measured of them.
enum TestSignals {
    static func sine(
        _ hertz: Double, amplitude: Double = 0.25, frames: Int, channels: Int = 1, rate: Int = 48_000,
        phase: Double = 0
    ) -> [Float] {
        (0..<frames * channels).map {
            Float(amplitude * sin(2 * Double.pi * hertz * Double($0 / channels) / Double(rate) + phase))
        }
    }

    static func noise(_ amplitude: Float, count: Int, seed: UInt64 = 1) -> [Float] {
        var randomness = SeededRandom(seed: seed)
        return (0..<count).map { _ in
            amplitude * (Float(randomness.next() >> 40) / Float(1 << 23) - 1)
        }
    }

    static func impulse(_ amplitude: Float, frames: Int) -> [Float] {
        var samples = [Float](repeating: 0, count: frames)
        samples[0] = amplitude
        return samples
    }

    /// Returns the magnitude of the Fourier transform of `samples` at `frequency`, in decibels relative to `reference`.
    static func decibels(
        of samples: [Float], at frequency: Double, rate: Int = 48_000, reference: Double
    ) -> Double {
        let angle = 2 * Double.pi * frequency / Double(rate)
        // A rotation by Goertzel's recurrence, in double precision.
        let coefficient = 2 * cos(angle)
        var (one, two) = (0.0, 0.0)
        for sample in samples { (one, two) = (Double(sample) + coefficient * one - two, one) }
        let power = one * one + two * two - coefficient * one * two
        return 10 * log10(max(power, 1e-40)) - 20 * log10(reference)
    }

    /// Frequencies from 20 Hz to 20 kHz, a third of an octave apart.
    static let frequencies = (0...30).map { 20 * pow(1_000, Double($0) / 30) }

    /// Returns what is left of `samples` without the sine of `hertz` in it, in decibels relative to the sine.
    static func distortion(of samples: ArraySlice<Float>, hertz: Double, rate: Int = 48_000) -> Double {
        var (ss, cc, sc, xs, xc) = (0.0, 0.0, 0.0, 0.0, 0.0)
        func wave(_ index: Int) -> (Double, Double) {
            let angle = 2 * Double.pi * hertz * Double(index) / Double(rate)
            return (sin(angle), cos(angle))
        }
        for index in samples.indices {
            let (sine, cosine) = wave(index)
            let sample = Double(samples[index])
            (ss, cc, sc) = (ss + sine * sine, cc + cosine * cosine, sc + sine * cosine)
            (xs, xc) = (xs + sample * sine, xc + sample * cosine)
        }
        let determinant = ss * cc - sc * sc
        let (a, b) = ((xs * cc - xc * sc) / determinant, (xc * ss - xs * sc) / determinant)
        var (rest, whole) = (0.0, 0.0)
        for index in samples.indices {
            let (sine, cosine) = wave(index)
            let fitted = a * sine + b * cosine
            let difference = Double(samples[index]) - fitted
            (rest, whole) = (rest + difference * difference, whole + fitted * fitted)
        }
        return 10 * log10(max(rest, 1e-40) / whole)
    }
}

extension InPlaceEffect where Self: ~Copyable {
    /// Returns `samples` with the effect, in blocks of `block` frames.
    mutating func applied(to samples: [Float], block: Int = 480) -> [Float] {
        var output = samples
        var span = output.mutableSpan
        var start = 0
        while start < samples.count {
            let end = min(start + block * format.channelCount, samples.count)
            var part = span._mutatingExtracting(start..<end)
            apply(to: &part)
            start = end
        }
        return output
    }
}

extension AudioEffect where Self: ~Copyable {
    /// Returns `samples` with the effect, all frames, in blocks of up to `block` frames.
    mutating func processed(_ samples: [Float], block: Int = 480) -> [Float] {
        var output: [Float] = []
        var room = [Float](repeating: 0, count: block * format.channelCount)
        var taken = 0
        while taken < samples.count {
            var span = room.mutableSpan
            let end = min(taken + block * format.channelCount, samples.count)
            let progress = process(samples.span.extracting(taken..<end), into: &span)
            taken += progress.consumed.rawValue * format.channelCount
            output += room[..<(progress.produced.rawValue * format.channelCount)]
        }
        return output + rest(block: block)
    }

    /// Returns the frames that the effect still holds.
    mutating func rest(block: Int = 480) -> [Float] {
        var output: [Float] = []
        var room = [Float](repeating: 0, count: block * format.channelCount)
        while true {
            var span = room.mutableSpan
            let produced = finish(into: &span).rawValue
            guard produced > 0 else { return output }
            output += room[..<(produced * format.channelCount)]
        }
    }
}

/// Runs sox and ffmpeg on raw floats.
struct ReferenceProgram {
    private let folder = Folder()

    /// Returns `samples` with sox's effect.
    func sox(_ effect: [String], _ samples: [Float], channels: Int = 1, rate: Int = 48_000) throws -> [Float] {
        let format = ["-t", "raw", "-e", "floating-point", "-b", "32", "-r", "\(rate)", "-c", "\(channels)"]
        folder.write(Self.bytes(of: samples), to: "in.raw")
        let run = try Program.run(
            "sox", ["-D", "-V1"] + format + [folder("in.raw")] + format + [folder("out.raw")] + effect)
        guard run.end == .code(0) else { throw Failure(text: run.errors) }
        return Self.samples(of: Folder.bytes(of: folder("out.raw")))
    }

    /// Returns the last value of ffmpeg's `ebur128` filter with this key, such as `I`.
    func ffmpeg(_ key: String, _ samples: [Float], channels: Int, rate: Int, peak: String? = nil) throws -> Double {
        folder.write(Self.bytes(of: samples), to: "in.raw")
        let filter =
            "ebur128=metadata=1\(peak.map { ":peak=\($0)" } ?? ""),ametadata=print:key=lavfi.r128.\(key):file=-"
        let run = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "f32le", "-ar", "\(rate)", "-ac", "\(channels)", "-i", folder("in.raw"), "-af",
                filter, "-f", "null", "-",
            ])
        let values = run.output.split(separator: "\n").filter { $0.hasPrefix("lavfi.r128.\(key)=") }
        guard let last = values.last, let value = Double(last.drop { $0 != "=" }.dropFirst()) else {
            throw Failure(text: run.errors + run.output.suffix(200))
        }
        return value
    }

    struct Failure: Error { var text: String }

    private static func bytes(of samples: [Float]) -> [UInt8] {
        [UInt8](capacity: 4 * samples.count) { output in
            for sample in samples {
                for shift in [0, 8, 16, 24] { output.append(UInt8(truncatingIfNeeded: sample.bitPattern >> shift)) }
            }
        }
    }

    private static func samples(of bytes: [UInt8]) -> [Float] {
        (0..<bytes.count / 4).map { index in
            let parts = (0..<4).map { UInt32(bytes[4 * index + $0]) << UInt32(8 * $0) }
            return Float(bitPattern: parts[0] | parts[1] | parts[2] | parts[3])
        }
    }
}
