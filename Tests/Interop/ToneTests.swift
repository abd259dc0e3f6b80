import TestSupport
import Testing

/// Tests the analysis itself: it detects one missing, repeated or silent packet of 2.5 ms and a hundredth of a hertz.
@Suite struct ToneTests {
    private let clean = Tone.samples(seconds: 2)

    @Test func aCleanToneHasNothingWrong() throws {
        let tone = try #require(Tone(in: clean))
        #expect(abs(tone.frequency - Tone.telling) < 0.01)
        #expect(abs(tone.level + 9.03) < 0.05)
        #expect(abs(tone.duration - 2) < 0.01)
        #expect(tone.holes == [] && tone.seams == [])
    }

    @Test func aToneBesideTheRightPitchIsMeasured() throws {
        for offset in [-5, -0.9, 0.05, 1.1, 5] {
            let tone = try #require(Tone(in: Tone.samples(Tone.telling + offset, seconds: 2)))
            #expect(abs(tone.frequency - Tone.telling - offset) < 0.01)
            #expect(tone.seams == [])
        }
    }

    @Test(arguments: [120, 240, 480, 960, 1_920, 2_880])
    func aMissingOrDoubledPacketIsASeam(frames: Int) throws {
        let missing = try #require(Tone(in: Array(clean[..<48_000] + clean[(48_000 + frames)...])))
        #expect(missing.seams.count == 1 && missing.seams.allSatisfy { abs($0 - 1) < 0.02 }, "\(missing)")
        let doubled = try #require(Tone(in: Array(clean[..<48_000] + clean[(48_000 - frames)...])))
        #expect(doubled.seams.count == 1 && doubled.seams.allSatisfy { abs($0 - 1) < 0.02 }, "\(doubled)")
    }

    @Test(arguments: [240, 480, 960])
    func aSilentPacketIsAHole(frames: Int) throws {
        for start in stride(from: 48_000, to: 48_120, by: 17) {
            var sound = clean
            for index in start..<start + frames { sound[index] = 0 }
            let tone = try #require(Tone(in: sound))
            #expect(!tone.holes.isEmpty && tone.holes.allSatisfy { abs($0 - 1) < 0.03 }, "\(tone)")
        }
    }

    @Test func aToneOfAnotherRateHasTheSamePitch() throws {
        let tone = try #require(Tone(in: Tone.samples(seconds: 2, rate: 44_100), rate: 44_100))
        #expect(abs(tone.frequency - Tone.telling) < 0.01)
    }

    @Test func silenceAndNoiseAreNoTone() {
        #expect(Tone(in: [Float](repeating: 0, count: 48_000)) == nil)
        #expect(Tone(in: []) == nil)
    }

    @Test(arguments: [Recording.Coding.signed16, .signed24, .float32])
    func aRecordingIsReadAsItWasWritten(coding: Recording.Coding) throws {
        let folder = Folder()
        let recording = Recording(
            rate: 44_100, channels: [Tone.samples(seconds: 0.5), Tone.samples(1_000, seconds: 0.5)])
        folder.write(recording.wav(coding), to: "a.wav")
        let read = try Recording(wav: folder("a.wav"))
        #expect(read.rate == 44_100 && read.channels.count == 2)
        for (one, other) in zip(recording.channels, read.channels) {
            #expect(zip(one, other).allSatisfy { abs($0 - $1) < 1e-4 })
            #expect(one.count == other.count)
        }
    }
}
