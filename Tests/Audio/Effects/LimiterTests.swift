import Glibc
import TenfourAudioCore
import TenfourEffects
import TestSupport
import Testing

/// `TruePeakLimiter` and `TruePeakMeter`.
@Suite(.onItsOwnThread) struct LimiterTests {
    enum Hostile: String, CaseIterable, Sendable {
        case signs, whiteNoise, quarterRate, nearHalfRate, square50, square441, square4999, step, flips, impulses
        case bursts, farTooLoud

        /// One second at 48 kHz.
        var samples: [Float] {
            let indices = 0..<48_000
            func square(_ hertz: Double) -> [Float] {
                TestSignals.sine(hertz, frames: 48_000, phase: 1e-6).map { $0 >= 0 ? 1 : -1 }
            }
            switch self {
            case .signs: return TestSignals.noise(1, count: 48_000).map { $0 >= 0 ? 1 : -1 }
            case .whiteNoise: return TestSignals.noise(1, count: 48_000, seed: 2)
            // The samples of this sine lie 3 dB below its peaks.
            case .quarterRate:
                return TestSignals.sine(12_000, amplitude: 2.squareRoot(), frames: 48_000, phase: .pi / 4)
            case .nearHalfRate: return TestSignals.sine(22_560, amplitude: 1, frames: 48_000, phase: 0.1)
            case .square50: return square(50)
            case .square441: return square(441)
            case .square4999: return square(4_999)
            case .step: return indices.map { $0 < 24_000 ? 0 : 1 }
            // Alternating samples that change their phase have the highest peaks between them.
            case .flips:
                return indices.map { index in
                    let place = index % 4_000
                    return place >= 40 ? 0 : (place % 2 == 0) == (place < 20) ? 1 : -1
                }
            case .impulses: return indices.map { $0 % 1_000 == 500 ? 2 : 0 }
            case .bursts:
                let sine = TestSignals.sine(997, amplitude: 1.5, frames: 48_000)
                return indices.map { $0 / 4_800 % 2 == 0 ? 0 : sine[$0] }
            case .farTooLoud: return TestSignals.noise(1, count: 48_000, seed: 3).map { $0 >= 0 ? 8 : -8 }
            }
        }
    }

    private func truePeak(_ samples: [Float], _ format: LPCMFormat = .mono) -> Double {
        var meter = TruePeakMeter(format: format)
        meter.append(samples.span)
        let silence = [Float](repeating: 0, count: 12 * format.channelCount)
        meter.append(silence.span)
        return meter.peak
    }

    @Test(arguments: Hostile.allCases)
    func noTruePeakExceedsTheCeiling(signal: Hostile) throws {
        var limiter = try TruePeakLimiter(format: .mono)
        let samples = signal.samples
        let output = limiter.processed(samples, block: 333)
        #expect(output.count == samples.count)
        let (before, after) = (truePeak(samples), truePeak(output))
        #expect(before > -1, "the input must need a limiter")
        #expect(after <= -1, "\(after) dBTP")
        // It takes away what is necessary, and not much more.
        #expect(after > -2)
        let loudest = output.map(\.magnitude).max() ?? 0
        #expect(loudest <= 0.8913)
    }

    /// The same output, measured by a program that is not ours. It oversamples with a steeper filter than that of BS.1770,
    /// so its peaks are up to 0.2 dB higher, and in signals close to half the sample rate more.
    @Test(arguments: [Hostile.square50, .square441, .bursts, .step])
    func ffmpegAgrees(signal: Hostile) throws {
        var limiter = try TruePeakLimiter(format: .stereo)
        let samples = signal.samples.flatMap { [$0, $0 * 0.5] }
        let output = limiter.processed(samples)
        let amplitude = try ReferenceProgram().ffmpeg("true_peak", output, channels: 2, rate: 48_000, peak: "true")
        let peak = 20 * log10(amplitude)
        #expect(peak <= -0.7, "\(peak) dBTP by ffmpeg")
    }

    @Test(arguments: [(-1.0, 0.1), (-6, 0.05), (-0.1, 1), (-20, 0.01), (0, 5)])
    func theCeilingCanBeSet(ceiling: Double, release: Double) throws {
        let samples = Hostile.bursts.samples
        var limiter = try TruePeakLimiter(format: .mono, LimiterSettings(ceiling: ceiling, release: release))
        let peak = truePeak(limiter.processed(samples))
        #expect(peak <= ceiling && peak > ceiling - 0.5)
    }

    @Test func audioBelowTheCeilingPassesUnchangedAndWhole() throws {
        let samples = TestSignals.noise(0.4, count: 2 * 20_000)
        for block in [1, 7, 144, 480, 5_000] {
            var limiter = try TruePeakLimiter(format: .stereo)
            let output = limiter.processed(samples, block: block)
            #expect(output == samples, "in blocks of \(block)")
        }
    }

    @Test func theLatencyIsWhatWasReadAhead() throws {
        var limiter = try TruePeakLimiter(format: .stereo)
        let samples = TestSignals.noise(2, count: 2 * 48_000)
        var room = [Float](repeating: 0, count: 2 * 200)
        var (taken, produced) = (0, 0)
        while taken < 40_000 {
            var span = room.mutableSpan
            let progress = limiter.process(samples.span.extracting(2 * taken..<2 * taken + 2 * 300), into: &span)
            taken += progress.consumed.rawValue
            produced += progress.produced.rawValue
            let latency = limiter.latency
            #expect(Double(taken - produced) == latency)
        }
        let latency = limiter.latency
        let lookAhead = limiter.lookAhead
        #expect(latency == Double(lookAhead) && lookAhead <= 240)
    }

    @Test func aBypassIsExactAndLosesNothing() throws {
        let samples = TestSignals.sine(440, amplitude: 0.5, frames: 48_000)
        var limiter = try TruePeakLimiter(format: .mono)
        var output: [Float] = []
        var room = [Float](repeating: 0, count: 300)
        var taken = 0
        while taken < samples.count {
            limiter.isBypassed = taken / 6_000 % 2 == 0
            var span = room.mutableSpan
            let progress = limiter.process(samples.span.extracting(taken..<min(taken + 300, 48_000)), into: &span)
            taken += progress.consumed.rawValue
            output += room[..<progress.produced.rawValue]
        }
        output += limiter.rest()
        #expect(output == samples)
    }

    @Test func audioOfNoNumbersIsSilenced() throws {
        var limiter = try TruePeakLimiter(format: .mono)
        var samples = TestSignals.sine(440, amplitude: 0.5, frames: 96_000)
        for (index, value) in [Float.nan, .infinity, -.infinity, 3e38, -3e38, .leastNonzeroMagnitude].enumerated() {
            samples[1_000 + index] = value
        }
        let output = limiter.processed(samples)
        #expect(output.allSatisfy { $0.magnitude <= 0.8914 })
        #expect(output[90_000...] == samples[90_000...], "it recovers")
    }

    @Test func wrongSettingsAreRefused() {
        for settings in [
            LimiterSettings(ceiling: 1), LimiterSettings(ceiling: -21), LimiterSettings(release: 0),
            LimiterSettings(release: .nan),
        ] {
            #expect(throws: EffectError.self) { _ = try TruePeakLimiter(format: .mono, settings) }
        }
    }

    @Test func theMeterHasTheTruePeakOfASine() {
        // The samples of this sine reach 0.707, its peaks 1.
        let sine = TestSignals.sine(12_000, amplitude: 1, frames: 4_800, phase: .pi / 4)
        let peak = truePeak(sine)
        #expect(abs(peak) < 0.1)
        let silence = truePeak([Float](repeating: 0, count: 100))
        #expect(silence == -.infinity)
    }
}
