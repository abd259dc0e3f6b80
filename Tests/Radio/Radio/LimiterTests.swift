import Foundation
import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourSeededRandom
import Testing

@testable import TenfourJitterBuffer
@testable import TenfourRadio

@Suite struct LimiterTests {
    private static let period = 240

    /// Returns the output of a limiter, which processes `sound` pull by pull. `isMix` is called for each pull.
    private func limit(_ sound: [Float], in format: LPCMFormat = .mono, isMix: (Int) -> Bool = { _ in true }) -> [Float]
    {
        var limiter = Limiter(format: format)
        var heard: [Float] = []
        let length = Self.period * format.channelCount
        for start in stride(from: 0, to: sound.count - length + 1, by: length) {
            var pull = Array(sound[start..<start + length])
            var span = pull.mutableSpan
            limiter.process(&span, isMix: isMix(start / length))
            heard += pull
        }
        return heard
    }

    private func noise(_ count: Int, loudness: Float, seed: UInt64 = 1) -> [Float] {
        var chance = SeededRandom(seed: seed)
        return (0..<count).map { _ in .random(in: -loudness...loudness, using: &chance) }
    }

    @Test func theDelayIsHalfAMillisecondAtEachRate() {
        for (rate, delay) in [(48_000, 24), (44_100, 22), (16_000, 8), (8_000, 4), (96_000, 48)] {
            #expect(Limiter(format: LPCMFormat(rate: SampleRate(hertz: rate))).delay == delay)
        }
    }

    @Test(arguments: [LPCMFormat.mono, .stereo]) func samplesWithinFullScalePassUnchanged(format: LPCMFormat) {
        let sound = noise(48_000, loudness: 1)
        let heard = limit(sound, in: format)
        let delay = 24 * format.channelCount
        #expect(heard.prefix(delay).allSatisfy { $0 == 0 })
        let isSame = Array(heard.dropFirst(delay)) == Array(sound.prefix(heard.count - delay))
        #expect(isSame)
    }

    @Test func oneTalkerAlonePassesUnchangedAndIsClippedAsACardWould() {
        let sound = noise(48_000, loudness: 1.2)
        let heard = limit(sound) { _ in false }
        let isSame = Array(heard.dropFirst(24)) == sound.prefix(heard.count - 24).map { min(max($0, -1), 1) }
        #expect(isSame)
    }

    @Test(arguments: [1.01, 1.5, 2, 8]) func nothingExceedsFullScale(loudness: Double) {
        let heard = limit(noise(96_000, loudness: Float(loudness)))
        #expect(heard.allSatisfy { abs($0) <= 1 })
        #expect((heard.map { abs($0) }.max() ?? 0) > 0.9, "the output is not limited more than necessary")
        // The limiter does not clip: a clipped mix at twice full scale would have half of its samples at full scale.
        #expect(heard.count { abs($0) == 1 } < heard.count / 100)
    }

    /// The gain falls over half a millisecond and rises over a tenth of a second, so it adds no step to the sound.
    @Test func theGainDoesNotClick() {
        let sound =
            tone(200, seconds: 1, loudness: 0.9) + tone(200, seconds: 1, loudness: 1.8)
            + tone(200, seconds: 1, loudness: 0.9)
        let heard = limit(sound)
        // A tone of 200 Hz at full scale has steps of 0.026, and the gain moves by half within 24 frames.
        let steps = zip(heard, heard.dropFirst()).map { abs($1 - $0) }
        #expect((steps.max() ?? 1) < 0.06, "\(steps.max() ?? 1)")
        let tail = heard.suffix(4_800)
        let isSame = Array(tail) == Array(sound[(heard.count - 4_800 - 24)..<(heard.count - 24)])
        #expect(isSame, "the gain has returned to one after half a second")
    }

    @Test func aMixOfLowVoicesIsNotModulatedByTheirWaves() {
        let heard = Array(limit(tone(100, seconds: 2, loudness: 2)).suffix(48_000))
        #expect(amplitude(of: 100, in: heard) > 0.98)
        #expect(amplitude(of: 300, in: heard) < 0.003 && amplitude(of: 500, in: heard) < 0.003)
    }

    /// Two talkers through encoder, jitter buffers and mixer, as in a session.
    @Test func twoTalkersAtFullScaleAreHeardWithoutClippingAndTheOneWhoStaysGetsLouderAgain() throws {
        let room = try SimulatedRoom()
        for (ssrc, pitch, seconds) in [(UInt32(1), 440.0, 6.0), (2, 1_000, 3)] {
            let talker = try SimulatedTalker(ssrc: ssrc, coding: CodingSettings())
            room.talkers.append(talker)
            room.sounds[talker.ssrc] = tone(pitch, seconds: seconds, loudness: 0.95)
        }
        room.run(seconds: 6)
        #expect(room.heard.allSatisfy { abs($0) <= 1 })
        let both = room.heard(from: 1, to: 2.9)
        #expect(amplitude(of: 440, in: both) > 0.42 && amplitude(of: 1_000, in: both) > 0.42)
        // Clipping would add intermodulation products such as 2 · 1000 − 440 Hz.
        #expect(amplitude(of: 1_560, in: both) < 0.01, "\(amplitude(of: 1_560, in: both))")
        #expect(amplitude(of: 440, in: room.heard(from: 4.5, to: 5.9)) > 0.9)
    }

    /// The first talker's audio must not shift in time if a second, quiet talker begins later.
    @Test func nothingShiftsWhenASecondTalkerBegins() throws {
        func heard(second: Bool) throws -> [Float] {
            let room = try SimulatedRoom()
            let first = try SimulatedTalker(ssrc: 1, coding: CodingSettings())
            room.talkers.append(first)
            room.sounds[first.ssrc] = tone(440, seconds: 4, loudness: 0.5)
            if second {
                let other = try SimulatedTalker(ssrc: 2, coding: CodingSettings())
                room.talkers.append(other)
                // Silence with weak noise at its end.
                room.sounds[other.ssrc] = [Float](repeating: 0, count: 96_000) + noise(48_000, loudness: 0.001)
            }
            room.run(seconds: 3)
            return room.heard
        }
        let (alone, together) = (try heard(second: false), try heard(second: true))
        #expect(alone.count == together.count)
        let difference = zip(alone, together).map { abs($0 - $1) }.max() ?? 1
        #expect(difference < 0.01, "\(difference)")
    }
}
