import Foundation
import TenfourAudioCore
import TenfourPushToTalk
import TenfourSeededRandom
import TestSupport
import Testing

struct VoiceActivityTests {
    private var voice = VoiceActivity()

    /// Gives a level in steps of 20 ms. Returns the times of the changes.
    private mutating func hear(_ decibels: Float, _ milliseconds: Range<Int>) -> [Int] {
        stride(from: milliseconds.lowerBound, to: milliseconds.upperBound, by: 20).filter {
            voice.append(Level(decibels: decibels), at: ms($0))
        }
    }

    @Test mutating func speechOpensWithin40MillisecondsAndClosesAfterTheHangTime() {
        #expect(hear(-60, 0..<2_000) == [])
        #expect(hear(-20, 2_000..<3_000) == [2_020])
        #expect(hear(-60, 3_000..<5_000) == [3_780], "800 ms after the last speech, at 2980 ms")
    }

    @Test mutating func aPauseBetweenWordsDoesNotClose() {
        _ = hear(-60, 0..<2_000)
        _ = hear(-20, 2_000..<3_000)
        #expect(hear(-60, 3_000..<3_700) == [] && hear(-25, 3_700..<4_000) == [])
        #expect(voice.isOpen)
    }

    @Test mutating func aClickIsNotSpeech() {
        _ = hear(-60, 0..<2_000)
        for start in stride(from: 2_000, to: 5_000, by: 200) {
            #expect(hear(-10, start..<start + 20) == [] && hear(-60, start + 20..<start + 200) == [])
        }
    }

    @Test mutating func theThresholdFollowsTheNoise() {
        _ = hear(-70, 0..<3_000)
        #expect(voice.threshold == Level(decibels: -50), "nothing quieter is speech")
        #expect(hear(-45, 3_000..<3_600) == [3_020], "a fan that starts")
        let changes = hear(-45, 3_600..<12_000)
        #expect(changes.count == 1 && changes[0] > 6_000 && changes[0] < 8_500, "\(changes)")
        #expect(hear(-40, 12_000..<13_000) == [], "not much above the fan")
        #expect(hear(-30, 13_000..<13_500) == [13_020])
    }

    @Test mutating func aHumAtTheStartIsNotSpeech() {
        #expect(hear(-15, 0..<5_000) == [])
    }

    @Test mutating func digitalSilenceIsNoFault() {
        #expect(hear(-200, 0..<2_000) == [])
        #expect(hear(-30, 2_000..<2_500) == [2_020])
    }

    @Test mutating func aCardThatComesBackIsNotSpeech() {
        #expect(hear(-100, 0..<500) == [], "the sound server starts")
        #expect(hear(-45, 500..<5_000) == [], "the room")
        #expect(hear(-100, 5_000..<15_000) == [], "the headset is unplugged")
        #expect(hear(-45, 15_000..<20_000) == [])
        #expect(hear(-20, 20_000..<20_500) == [20_020])
        #expect(hear(-100, 20_500..<22_000) == [21_280], "unplugged in speech")
    }

    @Test mutating func aMicrophoneWithANoiseGateOpensAtItsFirstWord() {
        _ = hear(-100, 0..<3_000)
        #expect(hear(-20, 3_000..<3_500) == [3_020])
        #expect(hear(-100, 3_500..<10_000) == [4_280])
        #expect(hear(-30, 10_000..<10_500) == [10_020])
    }

    /// Speech without any noise between its sentences, from the first moment on.
    @Test mutating func sentencesBetweenSilencesOpenForEver() {
        var openings = 0
        for sentence in 0..<600 {
            let start = sentence * 2_800
            for time in stride(from: start, to: start + 1_400, by: 20) {
                let level: Float = time % 200 < 40 ? -40 : -16
                if voice.append(Level(decibels: level), at: ms(time)), voice.isOpen { openings += 1 }
            }
            _ = hear(-100, start + 1_400..<start + 2_800)
        }
        #expect(openings >= 599, "\(openings)")
    }

    @Test mutating func aClockThatJumpsIsNoFault() {
        _ = hear(-60, 0..<2_000)
        _ = voice.append(Level(decibels: -20), at: Instant(nanoseconds: .max))
        _ = voice.append(Level(decibels: -20), at: Instant(nanoseconds: .min))
        _ = voice.append(Level(decibels: .nan), at: ms(0))
    }

    // MARK: Speech and noise

    /// Words of a real voice in noise, after two seconds of noise alone, which opens nothing. Each opens within 120 ms of
    /// the moment at which it rises above the noise, less than the pre-roll of 150 ms.
    @Test(arguments: [30.0, 15.0, 10.0], ["white", "pink"])
    func wordsAreFoundInNoise(signalToNoise: Double, noise: String) throws {
        let words = try ["Front_Left", "Rear_Center", "Side_Left"].map {
            try Recording(wav: "/usr/share/sounds/alsa/\($0).wav").channels[0]
        }
        var random = SeededRandom(seed: 18)
        for (number, word) in words.enumerated() {
            var source = Noise(isPink: noise == "pink")
            let begin = Self.begin(of: word, within: min(signalToNoise, 25))
            let gain = Self.level(word[begin...]) - signalToNoise - source.level(&random)
            let scale = Float(pow(10, gain / 20))
            var voice = VoiceActivity()
            var opened: [Double] = []
            let (lead, frame) = (2 * 48_000, 960)
            for start in stride(from: 0, to: lead + word.count + 72_000, by: frame) {
                let samples = (start..<start + frame).map { index in
                    let inWord = index - lead
                    return scale * source.next(&random) + (word.indices.contains(inWord) ? word[inWord] : 0)
                }
                let now = Instant.start + .nanoseconds(Int64(start + frame) * 1_000_000 / 48)
                if voice.append(Level(rootMeanSquareOf: samples.span), at: now), voice.isOpen {
                    opened.append(Double(start + frame) / 48 - Double(lead + begin) / 48)
                }
            }
            #expect(opened.count == 1, "\(opened)")
            #expect(opened.first.map { (0...120).contains($0) } ?? false, "word \(number) opened after \(opened) ms")
            #expect(!voice.isOpen)
        }
    }

    @Test(arguments: ["white", "pink"]) func noiseAloneIsNotSpeech(noise: String) {
        var random = SeededRandom(seed: 3)
        var source = Noise(isPink: noise == "pink")
        var voice = VoiceActivity()
        for number in 0..<3_000 {
            let samples = (0..<960).map { _ in 0.02 * source.next(&random) }
            let hasChanged = voice.append(Level(rootMeanSquareOf: samples.span), at: ms(number * 20))
            #expect(!hasChanged, "after \(number * 20) ms")
        }
    }

    /// Returns the first sample of the word that is within `decibels` of its level.
    private static func begin(of word: [Float], within decibels: Double) -> Int {
        let limit = level(word[...]) - decibels
        return stride(from: 0, to: word.count - 480, by: 480).first { level(word[$0..<$0 + 480]) > limit } ?? 0
    }

    fileprivate static func level(_ samples: ArraySlice<Float>) -> Double {
        10 * log10(Double(samples.reduce(0) { $0 + $1 * $1 }) / Double(samples.count) + 1e-12)
    }
}

/// White noise, or pink noise by a filter of three poles.
private struct Noise {
    let isPink: Bool
    private var state: (Float, Float, Float) = (0, 0, 0)

    init(isPink: Bool) { self.isPink = isPink }

    mutating func next(_ random: inout SeededRandom) -> Float {
        let white = Float(random.unit() + random.unit() + random.unit() - 1.5)
        guard isPink else { return white }
        state.0 = 0.99765 * state.0 + white * 0.0990460
        state.1 = 0.96300 * state.1 + white * 0.2965164
        state.2 = 0.57000 * state.2 + white * 1.0526913
        return state.0 + state.1 + state.2 + white * 0.1848
    }

    mutating func level(_ random: inout SeededRandom) -> Double {
        VoiceActivityTests.level((0..<48_000).map { _ in next(&random) }[...])
    }
}

@Suite(.onItsOwnThread, .inRealTime) struct VoiceHolderTests {
    @Test func theVoiceHoldsTheMicrophoneAndACardThatIsGoneDoesNot() throws {
        var settings = VoiceActivity.Settings()
        settings.hang = .milliseconds(100)
        let microphone = try Microphone()
        let level = LevelSource()
        let holder = try VoiceHolder(microphone.lease, settings) { level.next() }
        level.set(-60)
        usleep(600_000)
        #expect(!microphone.isOpen)
        level.set(-20)
        #expect(microphone.becomes(open: true) && microphone.lease.status.holders == [.voice])
        level.freeze()
        #expect(microphone.becomes(open: false, within: .seconds(2)), "the level is no longer renewed")
        holder.stop()
    }
}

private final class LevelSource: @unchecked Sendable {
    private let lock = NSLock()
    private var level = Level.floor
    private var number: UInt32 = 0
    private var isFrozen = false

    func set(_ decibels: Float) { lock.withLock { level = Level(decibels: decibels) } }
    func freeze() { lock.withLock { isFrozen = true } }

    func next() -> (level: Level, number: UInt32) {
        lock.withLock {
            if !isFrozen { number &+= 1 }
            return (level, number)
        }
    }
}
