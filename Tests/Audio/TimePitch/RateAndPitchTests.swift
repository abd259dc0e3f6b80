import Foundation
import TenfourAudioCore
import TenfourTimePitch
import Testing

private let rates = [0.25, 0.5, 0.75, 0.9, 1.1, 1.5, 2, 3, 4]

/// 8 kHz, because the required figures hold at any sample rate and this one is the fastest to process.
private let format = LPCMFormat(rate: SampleRate(hertz: 8_000))

@Test(arguments: rates)
func aToneAtAnotherRateIsAsMuchShorterAndAsHighAsBefore(rate: Double) {
    let input = tone(441, seconds: 12 * min(rate, 1), rate: 8_000)
    var run = TimePitchRun(format, rate: rate)
    run.process(input)
    run.finish()
    // Audio is never more than 18 ms (at rate 4: 40 ms) from its nominal position, and at the end at most twice that.
    let error = Double(run.output.count) * rate - Double(input.count)
    #expect(abs(error) < 8 * (rate > 2 ? 80 : 25))
    let heard = frequency(of: run.output[800..<min(run.output.count - 800, 32_000)], near: 441, rate: 8_000)
    #expect(abs(cents(heard, over: 441)) < 5)
}

private let isLong = ProcessInfo.processInfo.environment["TENFOUR_LONG"] != nil
private let pitches =
    isLong ? Array(stride(from: -2_400.0, through: 2_400, by: 300)) : [-2_400, -1_200, -100, 3, 700, 2_400]

/// Measured over the whole audio: at the end the position may be off by 100 ms of input up to rate 4, and by four
/// times that at rate 16, whatever the length.
@Test(arguments: [0.25, 0.5, 0.75, 1.5, 2, 4], pitches)
func tempoIsRightWithinHalfAPercentAndPitchWithinFiveCents(rate: Double, pitch: Double) {
    var run = TimePitchRun(format, rate: rate, pitch: pitch)
    run.process(tone(441, seconds: (isLong ? 30 : 2) * rate + 0.5, rate: 8_000))
    let tempo = slope(run.positions.map { (Double($0.frame), $0.position) })
    #expect(abs(tempo / rate - 1) < 0.005, "\(tempo)")
    let wanted = 441 * exp2(pitch / 1_200)
    let heard = frequency(of: run.output[1_600..<14_400], near: wanted, rate: 8_000)
    #expect(abs(cents(heard, over: wanted)) < 5, "\(heard) Hz")
}

@Test(arguments: [(0.25, 2_400.0), (4, -2_400), (0.25, -2_400), (4, 2_400)])
func theEndsOfBothRangesGoTogether(rate: Double, pitch: Double) {
    let input = tone(300, seconds: rate < 1 ? 1 : 16, rate: 8_000)
    var run = TimePitchRun(format, rate: rate, pitch: pitch)
    run.process(input)
    run.finish()
    let error = Double(run.output.count) * rate - Double(input.count)
    #expect(abs(error) < 8 * 400)
}

@Test(arguments: [(8_000, 1), (16_000, 2), (44_100, 2), (96_000, 1)])
func otherFormatsChangeRateAndPitchAsWell(hertz: Int, channels: Int) {
    let format = LPCMFormat(rate: SampleRate(hertz: hertz), channelCount: channels)
    let mono = tone(300, seconds: 2, rate: Double(hertz))
    let input = mono.flatMap { sample in (0..<channels).map { $0 == 0 ? sample : -sample } }
    var run = TimePitchRun(format, rate: 1.5, pitch: 300)
    run.process(input)
    run.finish()
    let error = Double(run.output.count) * 1.5 / Double(input.count) - 1
    #expect(abs(error) < 0.02)
    let left = stride(from: 0, to: run.output.count, by: channels).map { run.output[$0] }
    let wanted = 300 * exp2(0.25)
    let heard = frequency(of: left[1_000..<left.count - 1_000], near: wanted, rate: Double(hertz))
    #expect(abs(cents(heard, over: wanted)) < 5)
    if channels == 2 {
        let right = stride(from: 1, to: run.output.count, by: 2).map { run.output[$0] }
        #expect(zip(left, right).allSatisfy { abs($0 + $1) < 1e-6 })
    }
}

@Test(arguments: [(Double.nan, Double.nan), (-1, -1e9), (0, .infinity), (1e300, 9_999), (.infinity, -.infinity)])
func invalidRatesAndPitchesAreClamped(rate: Double, pitch: Double) {
    var timePitch = TimePitch(format: .mono)
    timePitch.rate = rate
    timePitch.pitch = pitch
    let (kept, keptPitch) = (timePitch.rate, timePitch.pitch)
    #expect(TimePitch.rates.contains(kept))
    #expect(TimePitch.pitches.contains(keptPitch))
}
