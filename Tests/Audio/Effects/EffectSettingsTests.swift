import Glibc
import TenfourAudioCore
import TenfourSeededRandom
import TestSupport
import Testing

@testable import TenfourEffects

/// The text of filters, and the limits of settings.
struct EffectSettingsTests {
    @Test func filtersAreRead() throws {
        let settings = try EffectSettings(filters: "bass:+4, TREBLE:-2dB,peak:1000:+3:1.4,lowpass:8k,mid:2")
        #expect(
            settings.filters == [
                FilterDesign(.lowShelf, frequency: 100, gain: 4, width: .slope(0.5)),
                FilterDesign(.highShelf, frequency: 3_000, gain: -2, width: .slope(0.5)),
                FilterDesign(.peak, frequency: 1_000, gain: 3, width: .q(1.4)),
                FilterDesign(.lowPass, frequency: 8_000),
                FilterDesign(.peak, frequency: 1_000, gain: 2, width: .q(0.7)),
            ])
        #expect(!settings.isNeutral)
    }

    @Test func bassAndTrebleTakeAFrequencyAndASlope() throws {
        let settings = try EffectSettings(filters: "bass:200Hz:-3,treble:5kHz:+1.5:0.9,notch:50:30,highpass1:20")
        #expect(
            settings.filters == [
                FilterDesign(.lowShelf, frequency: 200, gain: -3, width: .slope(0.5)),
                FilterDesign(.highShelf, frequency: 5_000, gain: 1.5, width: .slope(0.9)),
                FilterDesign(.notch, frequency: 50, width: .q(30)),
                FilterDesign(.highPassFirstOrder, frequency: 20),
            ])
    }

    @Test(arguments: [
        ("", "a filter is missing: write the filters as in bass:+4,treble:-2"),
        ("bass:4,,treble:2", "a filter is missing: write the filters as in bass:+4,treble:-2"),
        ("base:+4", "there is no filter \"base\": write one of bass, mid, treble"),
        ("bass", "bass needs other values: write bass[:FREQUENCY]:GAIN[:SLOPE]"),
        ("peak:1000", "peak needs other values: write peak:FREQUENCY:GAIN[:Q]"),
        ("lowpass:1000:1:2", "lowpass needs other values: write lowpass:FREQUENCY[:Q]"),
        ("bass:much", "\"much\" in bass is not a number: write bass[:FREQUENCY]:GAIN[:SLOPE]"),
        ("bass:nan", "\"nan\" in bass is not a number"), ("bass:0x10", "\"0x10\" in bass is not a number"),
        ("bass:1e999", "\"1e999\" in bass is not a number"),
        ("bass:+60", "the gain 60 is out of range: write -40 to 40 dB"),
        ("lowpass:0", "the frequency 0 is out of range: write 1 to 96000 Hz"),
        ("peak:1000:3:0", "the quality 0 is out of range: write 0.01 to 100"),
        ("bass:3:2:7", "the slope 7 is out of range: write 0.1 to 1"),
        ("bass:\u{1B}[2J", "\"\u{FFFD}[2J\" in bass is not a number"),
    ])
    func wrongTextGetsASentence(text: String, sentence: String) {
        do {
            _ = try EffectSettings(filters: text)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.description.hasPrefix(sentence), "\(error)")
        }
    }

    @Test func thereIsALimit() throws {
        let most = Array(repeating: "bass:1", count: 32).joined(separator: ",")
        #expect(try EffectSettings(filters: most).filters.count == 32)
        #expect(throws: EffectError.tooManyFilters(count: 33, limit: 32)) {
            _ = try EffectSettings(filters: most + ",bass:1")
        }
        #expect(throws: EffectError.textTooLong(limit: 4_096)) {
            _ = try EffectSettings(filters: "bass:1" + String(repeating: "0", count: 4_091))
        }
        #expect(throws: EffectError.textTooLong(limit: 4_096)) {
            _ = try EffectSettings(filters: String(repeating: "9", count: 1_000_000))
        }
    }

    /// Whatever is read has values in their ranges, and a text that reads alike.
    @Test func noTextTrapsAndWhatIsReadCanBeWritten() throws {
        var randomness = SeededRandom(seed: 5)
        let pieces =
            EffectSettings.filterForms.map { String($0.prefix { $0 != ":" && $0 != "[" }) } + [
                ":", ":", ":", ",", "+3", "-7.5", "1000", "8k", "0.5", "1e3", "-", ".", "dB", "Hz", " ", "\u{202E}",
                "ß",
            ]
        var readCount = 0
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0...randomness.next() % 6 { text += pieces[Int(randomness.next() % UInt64(pieces.count))] }
            if randomness.next() % 2 == 0 { text = "peak:1000:+3\(text)" }
            guard let settings = try? EffectSettings(filters: text) else { continue }
            readCount += 1
            try settings.check()
            for filter in settings.filters {
                let written = try #require(FilterText.text(of: filter))
                #expect(try EffectSettings(filters: written).filters == [filter], "\(written)")
            }
        }
        #expect(readCount > 100)
    }

    @Test func wrongSettingsAreRefused() {
        var compressor = CompressorSettings()
        compressor.ratio = 0.5
        #expect(throws: EffectError.outOfRange(name: "ratio", value: 0.5, range: 1...100, unit: "")) {
            _ = try Compressor(format: .mono, compressor)
        }
        #expect(throws: EffectError.self) { _ = try Delay(format: .mono, DelaySettings(time: 3)) }
        #expect(throws: EffectError.self) { _ = try Delay(format: .mono, DelaySettings(feedback: 1)) }
        for design in [
            FilterDesign(.lowPass, frequency: 24_000), FilterDesign(.lowPass, frequency: .nan),
            FilterDesign(.peak, frequency: 100, gain: 41), FilterDesign(.peak, frequency: 100, width: .octaves(0)),
        ] {
            #expect(throws: EffectError.self) { _ = try BiquadCoefficients(design, at: .opus) }
        }
        let filter = BiquadFilter(format: .mono, capacity: 2)
        #expect(throws: EffectError.tooManyFilters(count: 3, limit: 2)) {
            var filter = BiquadFilter(format: .mono, capacity: 2)
            try filter.set(Array(repeating: FilterDesign(.peak, frequency: 100, gain: 1), count: 3))
        }
        let capacity = filter.capacity
        #expect(capacity == 2)
    }
}
