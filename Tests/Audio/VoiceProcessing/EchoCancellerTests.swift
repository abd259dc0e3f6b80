import Glibc
import TenfourAudioCore
import TenfourSeededRandom
import Testing

@testable import TenfourVoiceProcessing

@Test func theTransformIsItsDefinitionAndItsInverseReturnsTheSamples() {
    var random = SeededRandom(seed: 1)
    var samples = (0..<RealFourier.length).map { _ in Float(random.unit() - 0.5) }
    let given = samples
    var re = [Float](repeating: 0, count: RealFourier.binCount)
    var im = re
    let fourier = RealFourier()
    unsafe samples.withUnsafeMutableBufferPointer { samples in
        unsafe re.withUnsafeMutableBufferPointer { re in
            unsafe im.withUnsafeMutableBufferPointer { im in
                unsafe fourier.transform(samples.baseAddress!, toReal: re.baseAddress!, imaginary: im.baseAddress!)
                for index in samples.indices { unsafe samples[index] = 0 }
                unsafe fourier.invert(real: re.baseAddress!, imaginary: im.baseAddress!, to: samples.baseAddress!)
            }
        }
    }
    for bin in [0, 1, 7, 255, 256, 300, 511, 512] {
        var (real, imaginary) = (0.0, 0.0)
        for (index, sample) in given.enumerated() {
            let angle = -2 * Double.pi * Double(bin * index % 1_024) / 1_024
            real += Double(sample) * cos(angle)
            imaginary += Double(sample) * sin(angle)
        }
        #expect(abs(Double(re[bin]) - real) < 1e-3 && abs(Double(im[bin]) - imaginary) < 1e-3, "\(bin)")
    }
    let differences = zip(given, samples).map { abs($0 - $1) }
    #expect((differences.max() ?? 1) < 1e-5)
}

@Test(arguments: [1, 2] as [UInt64])
func anEchoIsGoneAfterTwoSeconds(seed: UInt64) {
    let played = syllables(4 * 48_000, seed: seed)
    let echo = EchoPath(seed: seed).echo(of: played)
    var cancellation = Cancellation()
    let rest = cancellation.process(echo, played: played)
    #expect(decibels(echo[96_000...]) - decibels(rest[96_000...]) >= 20)
    var gated = Cancellation(isGated: true)
    let quiet = gated.process(echo, played: played)
    #expect(decibels(echo[96_000...]) - decibels(quiet[96_000...]) >= 35)
}

@Test func theNearEndPassesWhileBothTalk() {
    let played = syllables(5 * 48_000, seed: 3)
    let echo = EchoPath(seed: 3).echo(of: played)
    var near = syllables(5 * 48_000, seed: 4, level: 0.03)
    for index in 0..<96_000 { near[index] = 0 }
    var cancellation = Cancellation(isGated: true)
    let heard = cancellation.process(sum(echo, near), played: played)
    let changed = difference(heard, near)
    #expect(decibels(near[96_000...]) - decibels(changed[96_000...]) >= 10, "little of the near end is changed")
}

@Test func withoutAnEchoNothingIsChanged() {
    let near = syllables(48_000, seed: 5)
    var cancellation = Cancellation(isGated: true)
    let isSame = cancellation.process(near, played: [Float](repeating: 0, count: 48_000)) == near
    #expect(isSame)
}

/// A pause of pure silence is skipped. It leaves the same as a pause in which the far end is too quiet to learn from.
@Test(arguments: [9_600, 20_160, 48_000])
func aPauseLeavesWhatWasLearnt(pause: Int) {
    var (silent, faint) = (syllables(5 * 48_000, seed: 9), syllables(5 * 48_000, seed: 9))
    for index in 120_000..<120_000 + pause { (silent[index], faint[index]) = (0, index % 2 == 0 ? 1e-12 : -1e-12) }
    let near = EchoPath(seed: 9).echo(of: silent)
    var one = Cancellation()
    var other = Cancellation()
    let rest = difference(one.process(near, played: silent), other.process(near, played: faint))
    #expect(decibels(near[120_000...]) - decibels(rest[120_000...]) >= 80)
    var again = Cancellation()
    let heard = again.process(near, played: silent)
    let after = 120_000 + pause
    #expect(decibels(near[after...]) - decibels(heard[after...]) >= 20, "it is not learnt anew")
}

@Test func aMovedLoudspeakerIsLearntAnew() {
    let played = syllables(6 * 48_000, seed: 6)
    let (before, after) = (EchoPath(seed: 6).echo(of: played), EchoPath(seed: 7, delay: 700).echo(of: played))
    let echo = Array(before[..<120_000] + after[120_000...])
    var cancellation = Cancellation()
    let rest = cancellation.process(echo, played: played)
    #expect(decibels(echo[216_000...]) - decibels(rest[216_000...]) >= 15)
}

@Test func numbersThatAreNoneDoNotStopIt() {
    let played = syllables(4 * 48_000, seed: 8)
    var echo = EchoPath(seed: 8).echo(of: played)
    let clean = echo
    for index in 30_000..<30_100 { echo[index] = [.nan, .infinity, -.infinity][index % 3] }
    var cancellation = Cancellation()
    let rest = cancellation.process(echo, played: played)
    let isFinite = rest.allSatisfy { $0.isFinite }
    #expect(isFinite)
    #expect(decibels(clean[144_000...]) - decibels(rest[144_000...]) >= 15)
}
