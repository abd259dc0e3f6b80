import Glibc
import TenfourAudioCore
import TenfourEffects
import TenfourSeededRandom
import TestSupport
import Testing

/// Each effect against sox's effect of the same settings.
@Suite(.onItsOwnThread) struct SoxResponseTests {
    private let reference = ReferenceProgram()

    /// Below this gain, what sox rounds to 32-bit integers is louder than the signal.
    private static let quietest = -70.0

    @Test(arguments: [
        (FilterDesign(.lowPass, frequency: 1_000), ["lowpass", "1000"]),
        (FilterDesign(.lowPass, frequency: 8_000, width: .q(2)), ["lowpass", "8000", "2q"]),
        (FilterDesign(.highPass, frequency: 100), ["highpass", "100"]),
        (FilterDesign(.highPass, frequency: 3_000, width: .q(1.3)), ["highpass", "3000", "1.3q"]),
        (FilterDesign(.bandPass, frequency: 800, width: .q(3)), ["bandpass", "800", "3q"]),
        (FilterDesign(.bandPass, frequency: 800, width: .octaves(2)), ["bandpass", "800", "2o"]),
        (FilterDesign(.bandPassSkirt, frequency: 2_500, width: .q(4)), ["bandpass", "-c", "2500", "4q"]),
        (FilterDesign(.notch, frequency: 1_000, width: .q(5)), ["bandreject", "1000", "5q"]),
        (FilterDesign(.allPass, frequency: 700, width: .q(1)), ["allpass", "700", "1q"]),
        (FilterDesign(.peak, frequency: 1_000, gain: 6, width: .q(1.4)), ["equalizer", "1000", "1.4q", "6"]),
        (FilterDesign(.peak, frequency: 12_000, gain: -12, width: .q(0.5)), ["equalizer", "12000", "0.5q", "-12"]),
        (FilterDesign(.lowShelf, frequency: 100, gain: 9, width: .slope(0.5)), ["bass", "9", "100", "0.5s"]),
        (FilterDesign(.lowShelf, frequency: 400, gain: -15, width: .slope(1)), ["bass", "-15", "400", "1s"]),
        (FilterDesign(.highShelf, frequency: 3_000, gain: 8, width: .slope(0.5)), ["treble", "8", "3000", "0.5s"]),
        (FilterDesign(.highShelf, frequency: 6_000, gain: -10, width: .q(1)), ["treble", "-10", "6000", "1q"]),
    ])
    func aFilterHasTheResponseOfSox(design: FilterDesign, effect: [String]) throws {
        let impulse = TestSignals.impulse(0.25, frames: 24_000)
        var filter = try BiquadFilter(format: .mono, [design])
        let ours = filter.applied(to: impulse)
        let theirs = try reference.sox(effect, impulse)
        var worst = 0.0
        for frequency in TestSignals.frequencies {
            let expected = TestSignals.decibels(of: theirs, at: frequency, reference: 0.25)
            guard expected > Self.quietest else { continue }
            let measured = TestSignals.decibels(of: ours, at: frequency, reference: 0.25)
            let computed = filter.gain(at: frequency)
            worst = max(worst, abs(measured - expected), abs(computed - measured))
        }
        #expect(worst < 0.05, "the requirement is 0.2 dB")
    }

    @Test func aCompressorHasTheCurveOfSox() throws {
        var settings = CompressorSettings()
        (settings.threshold, settings.ratio, settings.knee) = (-24, 4, 0)
        for level in [-50.0, -30, -25, -24, -23, -18, -12, -6, -1] {
            let constant = [Float](repeating: Float(pow(10, level / 20)), count: 48_000)
            var compressor = try Compressor(format: .mono, settings)
            let ours = compressor.applied(to: constant)
            let theirs = try reference.sox(["compand", "0.005,0.1", "-24,0,-18"], constant)
            let difference = 20 * log10(Double(ours.last! / theirs.last!))
            #expect(abs(difference) < 0.05, "\(difference) dB at \(level) dB")
        }
    }

    /// sox rounds the corner by another curve, so the knee is compared with its definition.
    @Test func theKneeOfACompressorIsAParabola() throws {
        var settings = CompressorSettings()
        (settings.threshold, settings.ratio, settings.knee, settings.makeUp) = (-24, 4, 12, 2)
        for (level, expected) in [(-40.0, 2.0), (-30, 2), (-27, 2 - 0.28125), (-24, 2 - 1.125), (-18, -2.5), (-4, -13)]
        {
            let constant = [Float](repeating: Float(pow(10, level / 20)), count: 24_000)
            var compressor = try Compressor(format: .mono, settings)
            _ = compressor.applied(to: constant)
            let gain = compressor.gain
            #expect(abs(gain - expected) < 0.001, "at \(level) dB")
        }
    }

    @Test func aCompressorIsAsFastAsThatOfSox() throws {
        var settings = CompressorSettings()
        (settings.threshold, settings.ratio, settings.knee) = (-30, 8, 0)
        (settings.attack, settings.release) = (0.02, 0.2)
        var sound = [Float](repeating: 0.01, count: 48_000)
        for index in 12_000..<24_000 { sound[index] = 0.5 }
        var compressor = try Compressor(format: .mono, settings)
        let ours = compressor.applied(to: sound)
        let theirs = try reference.sox(["compand", "0.02,0.2", "-30,0,-26.25", "0", "-90"], sound)
        for index in stride(from: 11_000, to: 48_000, by: 100) {
            let difference = 20 * log10(Double(ours[index] / theirs[index]))
            #expect(abs(difference) < 0.2, "\(difference) dB at \(index)")
        }
    }

    @Test func aDelayIsTheEchoOfSox() throws {
        let sound = TestSignals.noise(0.4, count: 48_000)
        var delay = try Delay(format: .mono, DelaySettings(time: 0.1, mix: 0.4))
        let ours = delay.applied(to: sound)
        let theirs = try reference.sox(["echo", "0.6", "1", "100", "0.4"], sound)
        var difference: Float = 0
        for index in ours.indices { difference = max(difference, abs(ours[index] - theirs[index])) }
        #expect(difference < 0.0001)
    }
}
