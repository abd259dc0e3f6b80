import Glibc
import TenfourAudioCore
import TenfourEffects
import TestSupport
import Testing

/// `LoudnessMeter` and `LoudnessNormalizer`.
@Suite(.onItsOwnThread) struct LoudnessTests {
    private func integrated(_ samples: [Float], _ format: LPCMFormat) -> Double? {
        var meter = LoudnessMeter(format: format)
        var start = 0
        while start < samples.count {
            let end = min(start + 1_000 * format.channelCount, samples.count)
            meter.append(samples.span.extracting(start..<end))
            start = end
        }
        return meter.integrated
    }

    /// The first cases of EBU Tech 3341.
    @Test func aSineOfMinus23DecibelsHasMinus23LUFS() throws {
        for level in [-23.0, -33] {
            let sine = TestSignals.sine(1_000, amplitude: pow(10, level / 20), frames: 48_000 * 4, channels: 2)
            let loudness = try #require(integrated(sine, .stereo))
            #expect(abs(loudness - level) < 0.1)
        }
    }

    /// Case 3 of EBU Tech 3341: the quiet parts are gated.
    @Test func quietPartsDoNotCount() throws {
        func part(_ level: Double, _ seconds: Int) -> [Float] {
            TestSignals.sine(1_000, amplitude: pow(10, level / 20), frames: 48_000 * seconds, channels: 2)
        }
        let loudness = try #require(integrated(part(-36, 3) + part(-23, 20) + part(-36, 3), .stereo))
        #expect(abs(loudness + 23) < 0.1)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var rate: Int
        var channels: Int
        var seed: UInt64
        var testDescription: String { "\(channels) channels at \(rate) Hz" }

        /// Six seconds of noise, tones and pauses whose level changes.
        var samples: [Float] {
            let frames = 6 * rate
            let noise = TestSignals.noise(0.5, count: frames * channels, seed: seed)
            let low = TestSignals.sine(60, amplitude: 0.3, frames: frames, channels: channels, rate: rate)
            let high = TestSignals.sine(2_500, amplitude: 0.2, frames: frames, channels: channels, rate: rate)
            let gains: [Float] = [1, 0.05, 0.4, 0, 0.7, 0.02, 0.2, 1.2]
            return noise.indices.map { index in
                let gain = gains[index / channels / (rate * 3 / 4) % gains.count]
                return gain * (noise[index] * 0.5 + low[index] + high[index]) / Float(1 + index % channels)
            }
        }
    }

    @Test(arguments: [
        Case(rate: 48_000, channels: 2, seed: 1), Case(rate: 44_100, channels: 2, seed: 2),
        Case(rate: 22_050, channels: 1, seed: 3), Case(rate: 96_000, channels: 2, seed: 4),
    ])
    func ffmpegMeasuresTheSame(signal: Case) throws {
        let samples = signal.samples
        let format = LPCMFormat(rate: SampleRate(hertz: signal.rate), channelCount: signal.channels)
        let ours = try #require(integrated(samples, format))
        let theirs = try ReferenceProgram().ffmpeg("I", samples, channels: signal.channels, rate: signal.rate)
        #expect(abs(ours - theirs) < 0.1, "\(ours) and \(theirs) LUFS")
    }

    @Test func silenceHasNoLoudness() {
        let loudness = integrated([Float](repeating: 0, count: 96_000), .stereo)
        #expect(loudness == nil)
        let hostile = integrated([Float](repeating: .nan, count: 96_000), .stereo)
        #expect(hostile == nil)
        let recovered = integrated(
            [.infinity] + TestSignals.sine(1_000, frames: 96_000), .mono)
        #expect(recovered != nil && recovered!.isFinite)
    }

    @Test(arguments: [-40.0, -30, -12, -6])
    func audioComesToTheLoudness(level: Double) throws {
        let sine = TestSignals.sine(1_000, amplitude: pow(10, level / 20), frames: 48_000 * 8, channels: 2)
        var normalizer = LoudnessNormalizer(format: .stereo, target: -18)
        let output = normalizer.applied(to: sine)
        let end = try #require(integrated(Array(output.suffix(96_000 * 3)), .stereo))
        // No more than 15 dB are added.
        #expect(abs(end - min(-18, level + 15)) < 0.2, "\(end) LUFS")
        // The first second is on its way.
        #expect(output[..<19_000] == sine[..<19_000], "nothing is known in the first 100 ms")
    }

    @Test func theGainMovesSmoothlyAndReturnsWhenItIsSwitchedOff() {
        let sine = TestSignals.sine(300, amplitude: 0.5, frames: 48_000 * 3)
        var normalizer = LoudnessNormalizer(format: .mono, target: -30)
        var output = normalizer.applied(to: sine)
        normalizer.target = nil
        output += normalizer.applied(to: sine)
        let before = sharpness(of: sine)
        #expect(sharpness(of: output) < 1.05 * before)
        #expect(output[240_000...] == sine[96_000...], "unchanged at the end")
        let lowest = output[96_000..<144_000].map(\.magnitude).max() ?? 1
        #expect(lowest < 0.1)
    }

    @Test func anotherItemIsMeasuredAnew() throws {
        var normalizer = LoudnessNormalizer(format: .mono, target: -18)
        _ = normalizer.applied(to: TestSignals.sine(1_000, amplitude: 0.5, frames: 48_000 * 4))
        let measured = normalizer.loudness
        let first = try #require(measured)
        normalizer.beginItem()
        let none = normalizer.loudness
        #expect(none == nil)
        _ = normalizer.applied(to: TestSignals.sine(1_000, amplitude: 0.05, frames: 48_000 * 4))
        let remeasured = normalizer.loudness
        let second = try #require(remeasured)
        #expect(abs(first - second - 20) < 0.2)
    }
}

/// Returns the largest second difference. A click is much sharper than the audio around it.
func sharpness(of sound: [Float]) -> Float {
    var most: Float = 0
    for index in 2..<sound.count { most = max(most, abs(sound[index] - 2 * sound[index - 1] + sound[index - 2])) }
    return most
}
