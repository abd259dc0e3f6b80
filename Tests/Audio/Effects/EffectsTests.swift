import Glibc
import TenfourAudioCore
import TenfourEffects
import TenfourTimePitch
import Testing

private func sine(_ hertz: Double, frames: Int, channels: Int = 1) -> [Float] {
    (0..<frames * channels).map { Float(0.25 * sin(2 * Double.pi * hertz * Double($0 / channels) / 48_000)) }
}

/// Returns the largest second difference. A click is much sharper than the audio around it.
private func sharpness(_ sound: [Float]) -> Float {
    var most: Float = 0
    for index in 2..<sound.count { most = max(most, abs(sound[index] - 2 * sound[index - 1] + sound[index - 2])) }
    return most
}

/// Returns the gain from input to output, over the second half of both, in decibels.
private func gain(of output: [Float], over input: [Float]) -> Double {
    func energy(_ sound: [Float]) -> Double { sound.suffix(sound.count / 2).reduce(0) { $0 + Double($1 * $1) } }
    return 10 * log10(energy(output) / energy(input))
}

@Test func aFadeTakesAsLongAsItWasToldAndEndsInSilence() {
    var volume = Volume(format: .stereo)
    volume.fade(to: 0, over: .milliseconds(100))
    var sound = [Float](repeating: 1, count: 2 * 4_810)
    var span = sound.mutableSpan
    volume.apply(to: &span)
    #expect(abs(sound[2 * 2_400] - 0.5) < 0.001)
    #expect(sound[2 * 2_400] == sound[2 * 2_400 + 1])
    #expect(sound[2 * 4_790] > 0)
    #expect(sound[2 * 4_800] == 0)
    let isFading = volume.isFading
    #expect(!isFading)
}

@Test func aVolumeThatIsTurnedAtOnceDoesNotClick() {
    var volume = Volume(format: .mono)
    var sound = sine(300, frames: 9_600)
    let before = sharpness(sound)
    for start in stride(from: 0, to: sound.count, by: 480) {
        volume.fade(to: start % 960 == 0 ? 1 : 0.2)
        var span = sound.mutableSpan
        var block = span._mutatingExtracting(start..<start + 480)
        volume.apply(to: &block)
    }
    #expect(sharpness(sound) < 1.5 * before)
}

@Test(arguments: [Float.nan, -3, 0, 7, .infinity])
func aVolumeIsBetweenNothingAndAll(gain: Float) {
    var volume = Volume(format: .mono, gain: gain)
    let first = volume.gain
    #expect((0...1).contains(first))
    volume.fade(to: gain)
    let target = volume.target
    #expect((0...1).contains(target))
}

@Test(arguments: [
    (EqualizerBand(frequency: 1_000, gain: 6, q: 1), 1_000.0, 6.0),
    (EqualizerBand(frequency: 1_000, gain: 6, q: 1), 100, 0),
    (EqualizerBand(frequency: 1_000, gain: -12, q: 4), 1_000, -12),
    (EqualizerBand(.lowShelf, frequency: 500, gain: 9), 50, 9),
    (EqualizerBand(.lowShelf, frequency: 500, gain: 9), 500, 4.5),
    (EqualizerBand(.lowShelf, frequency: 500, gain: 9), 8_000, 0),
    (EqualizerBand(.highShelf, frequency: 4_000, gain: -6), 15_000, -6),
    (EqualizerBand(.highShelf, frequency: 4_000, gain: -6), 200, 0),
])
func aBandHasItsFrequencyAndGain(band: EqualizerBand, hertz: Double, decibels: Double) {
    var equalizer = Equalizer(format: .mono, bands: [band])
    let input = sine(hertz, frames: 19_200)
    var output = input
    var span = output.mutableSpan
    equalizer.apply(to: &span)
    let change = gain(of: output, over: input)
    #expect(abs(change - decibels) < 0.2)
}

@Test func aBandThatIsTurnedDoesNotClick() {
    var equalizer = Equalizer(format: .mono, bands: [EqualizerBand(frequency: 300, gain: 0)])
    var sound = sine(300, frames: 19_200)
    let before = sharpness(sound)
    for start in stride(from: 0, to: sound.count, by: 960) {
        equalizer[0].gain = start % 1_920 == 0 ? 0 : 12
        var span = sound.mutableSpan
        var block = span._mutatingExtracting(start..<start + 960)
        equalizer.apply(to: &block)
    }
    // Audio that is four times as loud is four times as sharp.
    #expect(sharpness(sound) < 6 * before)
}

@Test func aChainOfEffectsIsAnEffectThatKnowsWhereItIs() {
    var chain = EffectChain(
        TimePitch(format: .mono),
        EffectChain(Equalizer(format: .mono, bands: [EqualizerBand(frequency: 100, gain: 3)]), Volume(format: .mono)))
    chain.first.rate = 2
    chain.second.second.fade(to: 0.5)
    let input = sine(1_000, frames: 48_000)
    var output: [Float] = []
    var room = [Float](repeating: 0, count: 700)
    var taken = 0
    while taken < input.count {
        var span = room.mutableSpan
        let progress = chain.process(input.span.extracting(taken..<input.count), into: &span)
        taken += progress.consumed.rawValue
        output += room[..<progress.produced.rawValue]
        // At rate 2, the position is never off by more than the length of a splice.
        let apart = Double(taken) - chain.latency - 2 * Double(output.count)
        #expect(abs(apart) < 2_500)
    }
    while true {
        var span = room.mutableSpan
        let produced = chain.finish(into: &span).rawValue
        if produced == 0 { break }
        output += room[..<produced]
    }
    #expect(abs(output.count - 24_000) < 1_300)
    let change = gain(of: output, over: Array(input[..<output.count]))
    #expect(abs(change + 6) < 0.3)
    let rate = chain.rate
    #expect(rate == 2)
}
