import CAllocations
import Glibc
import TenfourAudioCore
import TenfourEffects
import TestSupport
import Testing

/// Filters, compressor, delay and the whole of them: exactness, clicks, distortion.
@Suite(.onItsOwnThread) struct EffectProcessorTests {
    @Test(arguments: [1, 100, 480, 2_000])
    func neutralSettingsChangeNothing(block: Int) {
        let samples = TestSignals.noise(1.2, count: 2 * 12_000)
        var processor = EffectProcessor(format: .stereo)
        let output = processor.processed(samples, block: block)
        #expect(output == samples)
        let latency = processor.latency
        #expect(latency == 0)
    }

    /// Everything runs, but nothing is to be changed.
    @Test func atZeroDecibelsNothingIsDistorted() throws {
        var settings = EffectSettings()
        settings.filters = [
            FilterDesign(.peak, frequency: 1_000), FilterDesign(.lowShelf, frequency: 200),
            FilterDesign(.highShelf, frequency: 4_000), FilterDesign(.peak, frequency: 60, width: .q(8)),
        ]
        settings.compressor = CompressorSettings()
        settings.compressor?.ratio = 1
        settings.delay = DelaySettings(mix: 0)
        for hertz in [40.0, 997, 12_345] {
            let sine = TestSignals.sine(hertz, amplitude: 0.7, frames: 48_000)
            var processor = EffectProcessor(format: .mono)
            try processor.set(settings)
            let output = processor.processed(sine)
            let distortion = TestSignals.distortion(of: output[9_600..<43_200], hertz: hertz)
            #expect(distortion < -130, "the requirement is −100 dB")
            let level = TestSignals.decibels(of: Array(output[9_600..<43_200]), at: hertz, reference: 0.7 * 16_800)
            #expect(abs(level) < 0.001)
        }
    }

    /// Filters of low frequencies, which need their double precision.
    @Test(arguments: ["highpass:20,lowpass:40", "bass:12,treble:-12", "peak:30:20:2", "lowpass:20000,notch:50:10"])
    func filtersDoNotDistort(filters: String) throws {
        var settings = try EffectSettings(filters: filters)
        settings.limiter.ceiling = 0
        let sine = TestSignals.sine(997, amplitude: 0.2, frames: 96_000)
        var processor = EffectProcessor(format: .mono)
        try processor.set(settings)
        let output = processor.processed(sine)
        #expect(TestSignals.distortion(of: output[72_000..<92_000], hertz: 997) < -100)
    }

    @Test func theLimiterBehindTheFiltersHoldsTheCeiling() throws {
        var processor = EffectProcessor(format: .stereo)
        var settings = try EffectSettings(filters: "bass:20,treble:20,peak:1000:12")
        (settings.bass, settings.treble) = (12, 12)
        try processor.set(settings)
        let output = processor.processed(TestSignals.noise(1, count: 2 * 48_000))
        var meter = TruePeakMeter(format: .stereo)
        meter.append(output.span)
        let peak = meter.peak
        #expect(peak <= -1)
        #expect(peak > -2)
    }

    /// Levels above 8 kHz while a sine of 440 Hz plays: a click has all frequencies.
    private func levelOfClicks(in sound: [Float]) throws -> Double {
        let high = FilterDesign.butterworth(highPass: true, order: 8, frequency: 8_000)
        var filter = try BiquadFilter(format: .mono, high)
        let rest = filter.applied(to: sound).dropFirst(4_800)
        return 20 * log10(Double(rest.map(\.magnitude).max() ?? 0))
    }

    /// A sine that begins suddenly has all frequencies, too.
    private func fadedIn(_ sound: [Float]) -> [Float] {
        sound.indices.map { sound[$0] * Float(0.5 - 0.5 * cos(Double.pi * Double(min($0, 4_800)) / 4_800)) }
    }

    @Test func noChangeClicks() throws {
        let sine = fadedIn(TestSignals.sine(440, amplitude: 0.2, frames: 96_000))
        var processor = EffectProcessor(format: .mono)
        var output: [Float] = []
        var (number, taken) = (0, 0)
        for start in stride(from: 0, to: sine.count, by: 4_800) {
            var settings = EffectSettings()
            settings.bass = [0, 6, -6, 3][number % 4]
            settings.treble = [0, -10, 10][number % 3]
            let texts = ["peak:440:10:4", "lowpass:2000", "highpass:300,notch:1000", "bandpass:500:2", "peak:440:-10"]
            settings.filters = number % 6 == 5 ? [] : try EffectSettings(filters: texts[number % 5]).filters
            if number % 2 == 1 { settings.compressor = CompressorSettings() }
            settings.compressor?.threshold = number % 4 == 1 ? -30 : -20
            if number % 3 == 1 { settings.delay = DelaySettings(time: number % 2 == 0 ? 0.01 : 0.02, mix: 0.5) }
            if number == 7 { settings = EffectSettings() }
            try processor.set(settings)
            number += 1
            var room = [Float](repeating: 0, count: 480)
            while taken < start + 4_800 {
                var span = room.mutableSpan
                let progress = processor.process(sine.span.extracting(taken..<start + 4_800), into: &span)
                taken += progress.consumed.rawValue
                output += room[..<progress.produced.rawValue]
            }
        }
        let latency = processor.latency
        #expect(Double(sine.count - output.count) == latency)
        let clicks = try levelOfClicks(in: output)
        #expect(clicks < -66)
        // The measure sees a click: a gain that jumps by 6 dB at a peak of the sine.
        let jump = sine.indices.map { sine[$0] * ($0 < 48_027 ? 1 : 0.5) }
        let jumpClicks = try levelOfClicks(in: jump)
        #expect(jumpClicks > -45)
    }

    @Test func nothingIsAllocatedWhileAudioPasses() throws {
        var settings = try EffectSettings(filters: "bass:6,peak:1000:6,notch:50")
        (settings.compressor, settings.delay, settings.loudness) = (CompressorSettings(), DelaySettings(), -18)
        var processor = EffectProcessor(format: .stereo)
        try processor.set(settings)
        let samples = TestSignals.noise(0.5, count: 960)
        var output = FixedBuffer<Float>(repeating: 0, count: 960)
        var allocationCount: UInt = 0
        for round in 0..<100 {
            let before = allocations_of_this_thread()
            var room = output.mutableSpan
            _ = processor.process(samples.span, into: &room)
            // The first use of a type builds its metadata.
            if round > 0 { allocationCount += allocations_of_this_thread() - before }
        }
        #expect(allocationCount == 0)
    }

    @Test func aDelayThatChangesItsTimeDoesNotClick() throws {
        let sine = fadedIn(TestSignals.sine(440, amplitude: 0.2, frames: 96_000))
        var delay = try Delay(format: .mono, DelaySettings(time: 0.1, feedback: 0.5, mix: 0.5))
        var output: [Float] = []
        for start in stride(from: 0, to: sine.count, by: 9_600) {
            try delay.set(DelaySettings(time: start % 19_200 == 0 ? 0.1 : 0.333, feedback: 0.5, mix: 0.5))
            output += delay.applied(to: Array(sine[start..<start + 9_600]))
        }
        let clicks = try levelOfClicks(in: output)
        #expect(clicks < -66)
    }

    @Test func aDelayRepeatsWithItsFeedback() throws {
        var delay = try Delay(format: .mono, DelaySettings(time: 0.01, feedback: 0.5, mix: 0.4))
        let output = delay.applied(to: TestSignals.impulse(1, frames: 4_800))
        #expect(abs(output[0] - 0.6) < 1e-6)
        for number in 1...8 {
            #expect(abs(output[480 * number] - 0.4 * pow(0.5, Float(number - 1))) < 1e-6)
        }
        #expect(output.filter { $0 != 0 }.count == 10)
    }

    @Test func aFilterForgetsWhatIsNoNumber() throws {
        var settings = try EffectSettings(filters: "highpass:30,peak:1000:6")
        settings.compressor = CompressorSettings()
        settings.delay = DelaySettings(feedback: 0.9)
        settings.loudness = -18
        var processor = EffectProcessor(format: .mono)
        try processor.set(settings)
        var samples = TestSignals.sine(440, frames: 48_000)
        for (index, value) in [Float.nan, .infinity, 3e38, -.infinity].enumerated() { samples[5_000 + index] = value }
        let output = processor.processed(samples)
        #expect(output.allSatisfy { $0.isFinite })
        #expect(output[40_000...].contains { $0.magnitude > 0.05 }, "it recovers")
    }

    @Test(arguments: 1...9)
    func aButterworthFilterHasThreeDecibelsAtItsCorner(order: Int) throws {
        for highPass in [false, true] {
            let filter = try BiquadFilter(
                format: .mono, FilterDesign.butterworth(highPass: highPass, order: order, frequency: 1_000))
            let corner = filter.gain(at: 1_000)
            #expect(abs(corner + 3.0103) < 0.001)
            let hertz = highPass ? 250.0 : 4_000
            let far = filter.gain(at: hertz)
            // The formula of the analogue filter, with frequencies as the bilinear transform maps them.
            let ratio = tan(Double.pi * hertz / 48_000) / tan(Double.pi * 1_000 / 48_000)
            let expected = -10 * log10(1 + pow(highPass ? 1 / ratio : ratio, 2 * Double(order)))
            #expect(abs(far - expected) < 0.001)
        }
    }

    @Test func aBypassedEffectChangesNothingAndReturnsWithoutAClick() throws {
        let sine = TestSignals.sine(440, amplitude: 0.2, frames: 48_000)
        let filter = try BiquadFilter(format: .mono, [FilterDesign(.peak, frequency: 440, gain: 12)])
        var effect = Bypassable(filter, isBypassed: true)
        var output = effect.applied(to: sine)
        #expect(output == sine)
        for start in stride(from: 0, to: sine.count, by: 9_600) {
            effect.isBypassed.toggle()
            output += effect.applied(to: Array(sine[start..<start + 9_600]))
        }
        #expect(try levelOfClicks(in: output) < -66)
        let loudest = output.map(\.magnitude).max() ?? 0
        #expect(loudest > 0.7)
        #expect(output[86_000..<86_400] == sine[38_000..<38_400] && output[90_000] != sine[42_000])
    }

    /// Counts the frames that pass, and swaps the sign.
    private struct Inverter: ~Copyable, InPlaceEffect {
        let format: LPCMFormat
        var frameCount = 0
        mutating func apply(to samples: inout MutableSpan<Float>) {
            for index in samples.indices { samples[index] = -samples[index] }
            frameCount += samples.count / format.channelCount
        }
        mutating func clear() {}
    }

    @Test func anEffectOfOnesOwnJoinsAChain() throws {
        let limiter = try TruePeakLimiter(format: .stereo)
        var chain = EffectChain(
            AnyAudioEffect(Inverter(format: .stereo)), EffectChain(limiter, NoEffect(format: .stereo)))
        let samples = TestSignals.noise(0.3, count: 2 * 9_000)
        let output = chain.processed(samples)
        #expect(output == samples.map { -$0 })
        chain.clear()
        let rate = chain.rate
        #expect(rate == 1)
    }
}
