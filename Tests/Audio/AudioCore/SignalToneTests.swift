import Glibc
import TenfourAudioCore
import Testing

@Suite struct SignalToneTests {
    /// Returns what the generator adds to silence until the tone ends, in pieces of `piece` frames.
    private func sound(_ tone: SignalTone, _ format: LPCMFormat = .mono, piece: Int = 240) -> [Float] {
        var generator = SignalToneGenerator(format: format)
        generator.begin(tone)
        var sound: [Float] = []
        while generator.tone != nil, sound.count < 10 * format.rate.hertz {
            var samples = [Float](repeating: 0, count: piece * format.channelCount)
            var span = samples.mutableSpan
            generator.add(to: &span)
            sound += samples
        }
        return sound
    }

    @Test(arguments: SignalTone.allCases) func aToneIsShortLoudEnoughAndDoesNotClick(tone: SignalTone) {
        let sound = sound(tone)
        #expect((0.1...0.5).contains(Double(sound.count) / 48_000), "\(sound.count)")
        #expect((0.15...0.2).contains(sound.max() ?? 0))
        // A sine of 1480 Hz at −15 dBFS changes by 0.034 a frame.
        #expect(zip(sound, sound.dropFirst()).allSatisfy { abs($1 - $0) < 0.036 })
    }

    @Test func allTonesSoundDifferent() {
        let all = SignalTone.allCases.map { sound($0) }
        for (index, one) in all.enumerated() {
            for other in all[(index + 1)...] { #expect(one != other) }
        }
    }

    @Test(arguments: [8_000, 44_100, 48_000], [1, 2]) func aNoteHasItsFrequencyAtAnyRate(hertz: Int, channels: Int) {
        let format = LPCMFormat(rate: SampleRate(hertz: hertz), channelCount: channels)
        let sound = sound(.busy, format)
        let one = stride(from: 0, to: sound.count, by: channels).map { sound[$0] }
        if channels == 2 { #expect(one == stride(from: 1, to: sound.count, by: 2).map { sound[$0] }) }
        let crossings = zip(one, one.dropFirst()).count { $0 <= 0 && $1 > 0 }
        #expect(abs(Double(crossings) - 310 * 0.3) <= 1.5, "\(crossings)")
    }

    /// The size of the card's period changes nothing.
    @Test(arguments: [1, 7, 960, 48_000]) func thePiecesDoNotMatter(piece: Int) {
        let (one, other) = (sound(.permit), sound(.permit, piece: piece))
        let count = min(one.count, other.count)
        #expect(one[..<count] == other[..<count])
    }

    @Test func aToneIsAddedToWhatPlaysAndLimited() {
        var generator = SignalToneGenerator(format: .mono)
        generator.begin(.busy)
        var samples = [Float](repeating: 0.95, count: 960)
        var span = samples.mutableSpan
        generator.add(to: &span)
        #expect(samples.max() == 1 && samples.contains { $0 < 0.9 })
    }

    @Test func anotherToneReplacesTheFirst() {
        var generator = SignalToneGenerator(format: .mono)
        generator.begin(.lost)
        var samples = [Float](repeating: 0, count: 960)
        var span = samples.mutableSpan
        generator.add(to: &span)
        generator.begin(.permit)
        var after = [Float](repeating: 0, count: 960)
        span = after.mutableSpan
        generator.add(to: &span)
        #expect(after == Array(sound(.permit, piece: 960)[..<960]))
    }

    @Test func aToneIsFoundByItsName() {
        for tone in SignalTone.allCases { #expect(SignalTone(name: tone.name) == tone) }
        #expect(SignalTone(name: "beep") == nil)
    }
}
