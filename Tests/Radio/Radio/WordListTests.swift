import Glibc
import TenfourAudioCore
import TenfourOpusCodec
import TenfourPushToTalk
import TenfourSeededRandom
import Testing

@testable import TenfourRadio

/// A hundred words, each with a key that is pressed too late and released too early.
@Suite struct WordListTests {
    private struct Word {
        /// In samples at 48 000 Hz.
        var start: Int
        var end: Int
        /// The key's times, in steps of the card's period.
        var pressed: Int
        var released: Int
    }

    /// The card's period, in samples.
    private static let period = 240
    /// The delay of the encoder and the decoder, in samples.
    private static let lookAhead = 312

    @Test func noSyllableIsLostAtTheStartOrTheEnd() throws {
        var random = SeededRandom(seed: 7)
        let words = Self.words(100, using: &random)
        let source = Self.speech(of: words)
        let heard = try Self.heard(source, words)
        func change(_ range: Range<Int>) -> Double {
            10 * log10(Self.energy(heard[range]) / Self.energy(source[range]))
        }
        for (number, word) in words.enumerated() {
            let first = change(word.start..<(word.start + 2_400))
            let last = change((word.end - 2_400)..<word.end)
            #expect(
                abs(first) <= 1 && abs(last) <= 1, "word \(number): \(first) dB at its start, \(last) dB at its end")
        }
    }

    /// Words of 300 to 900 ms, with pauses of 0.5 to 1 s between them. A key is pressed up to 140 ms after the beginning of
    /// its word, and released up to 140 ms before its end.
    private static func words(_ count: Int, using random: inout SeededRandom) -> [Word] {
        var words: [Word] = []
        var position = 48_000
        for _ in 0..<count {
            let length = Int.random(in: 14_400...43_200, using: &random)
            let late = Int.random(in: 0...6_700, using: &random)
            let early = Int.random(in: 0...6_700, using: &random)
            let end = position + length
            words.append(
                Word(
                    start: position, end: end, pressed: (position + late) / period, released: (end - early) / period))
            position = end + Int.random(in: 24_000...48_000, using: &random)
        }
        return words
    }

    /// Voiced sounds of several pitches, which change their loudness, with silence between them.
    private static func speech(of words: [Word]) -> [Float] {
        var sound = [Float](repeating: 0, count: (words.last?.end ?? 0) + 48_000)
        // One period of the voice, so that the sines are computed once only.
        let period = (0..<1_000).map { (place: Int) -> Float in
            var sum: Float = 0
            for harmonic in 1...10 {
                let phase = 2 * Double.pi * Double(harmonic * place) / 1_000
                sum += Float(sin(phase)) / Float(harmonic)
            }
            return sum
        }
        for (number, word) in words.enumerated() {
            let pitch = 110 + (number % 12) * 10
            for index in word.start..<word.end {
                let voice = period[(index - word.start) * pitch / 48 % 1_000]
                let ramp = Float(min(index - word.start, word.end - 1 - index, 240)) / 240
                let beat = Float((index - word.start) / 6_000 % 2)
                sound[index] = 0.2 * voice * ramp * (0.7 + 0.3 * beat)
            }
        }
        return sound
    }

    /// Passes the sound through lease, encoder and decoder. Returns what is heard, aligned with the source.
    private static func heard(_ source: [Float], _ words: [Word]) throws -> [Float] {
        var coding = CodingSettings()
        coding.preRoll = .milliseconds(150)
        let talker = try SimulatedTalker(coding: coding)
        var lease = PushToTalk()
        var decoder = try OpusDecoder(channelCount: 1)
        var heard = [Float](repeating: 0, count: source.count + 5_760)
        var pressed = words.map(\.pressed)[...]
        var released = words.map(\.released)[...]
        for step in 0..<(source.count / period) {
            let now = Instant.start + .microseconds(Int64(step * 5_000))
            if pressed.first == step {
                pressed.removeFirst()
                lease.press(.keyboard, at: now)
            }
            if released.first == step {
                released.removeFirst()
                lease.release(.keyboard, at: now)
            }
            lease.timeElapsed(at: now)
            talker.isOpen = lease.isOpen
            for packet in talker.say(Array(source[(step * period)..<((step + 1) * period)])) {
                if packet.startsTalkspurt { decoder.reset() }
                var samples = [Float](repeating: 0, count: 5_760)
                var room = samples.mutableSpan
                let count = try decoder.decode(packet.packet.payload, into: &room).rawValue
                let start = packet.position.rawValue - lookAhead
                for index in 0..<count where start + index >= 0 { heard[start + index] = samples[index] }
            }
        }
        return heard
    }

    private static func energy(_ samples: ArraySlice<Float>) -> Double {
        samples.reduce(0) { $0 + Double($1) * Double($1) }
    }
}
