import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourEffects
import TenfourMediaSource
import TenfourSystem
import TestSupport
import Testing

@testable import TenfourPlayer

/// Streams into a file instead of a card, so that the output can be checked sample by sample.
@Suite(.onItsOwnThread) struct FileRendererTests {
    private let folder = Folder()

    @Test func aFileHoldsEveryFrameOnce() throws {
        let sound = try render(["1.5"])
        #expect(sound.count == 72_000)
        #expect((0..<72_000).allSatisfy { abs(sound[$0] - CodedMedia.value(at: $0, rate: 48_000)) < 0.0001 })
    }

    @Test func aQueueIsWrittenWithoutAGap() throws {
        let sound = try render(["0.5", "0.25", "0.5"])
        #expect(sound.count == 60_000)
        let starts = [0, 24_000, 36_000]
        for (index, start) in starts.enumerated() where index > 0 {
            #expect((0..<1_000).allSatisfy { abs(sound[start + $0] - CodedMedia.value(at: $0, rate: 48_000)) < 0.0001 })
        }
    }

    @Test func unopenableEntriesAreSkippedAndReported() async throws {
        let streamer = try Streamer(configuration(), opener: CodedOpener(.mono))
        let events = streamer.events
        streamer.open(["none", "0.25"])
        streamer.play()
        try streamer.wait()
        streamer.close()
        var skipped: [StreamEvent] = []
        for await event in events { if case .skipped = event { skipped.append(event) } }
        #expect(skipped == [.skipped(0, .unusable("no number"))])
        #expect(try written().count == 12_000)
    }

    @Test func aBrokenStreamIsWrittenUpToTheBreakAndThrows() throws {
        let opener = CodedOpener(.mono, held: 0.1)
        let streamer = try Streamer(configuration(), opener: opener)
        streamer.open("1")
        streamer.play()
        while opener.opened.isEmpty {}
        opener.opened[0].fail(at: 0.5)
        opener.opened[0].holdBack(after: nil)
        #expect(throws: StreamError.read(.undecodable("it is broken there"))) { try streamer.wait() }
        streamer.close()
        #expect(try written().count == 24_064, "chunks of 512 frames")
    }

    @Test func aPipeIsWrittenToItsEnd() throws {
        let streamer = try Streamer(configuration(), opener: CodedOpener(.mono, .pipe))
        streamer.open("2.5")
        streamer.play()
        #expect(waiting { streamer.state == .ended(.finished) })
        streamer.close()
        #expect(try written().count == 120_000)
    }

    @Test func itEndsAfterTheDuration() throws {
        var configuration = configuration()
        configuration.duration = .milliseconds(405)
        let streamer = try Streamer(configuration, opener: CodedOpener(.mono))
        streamer.open(["0.3", "9"])
        streamer.play()
        #expect(waiting { streamer.state == .ended(.playedEnough) })
        #expect(streamer.progress.played == .milliseconds(405))
        streamer.close()
        #expect(try written().count == 19_440)
    }

    @Test func seeksInAPauseDoNotFillTheRing() throws {
        let streamer = try Streamer(configuration(), opener: CodedOpener(.mono))
        streamer.open("30")
        for second in 1..<20 {
            streamer.seek(to: .seconds(second))
            usleep(20_000)
        }
        streamer.seek(to: .seconds(29))
        streamer.play()
        #expect(waiting { streamer.state == .ended(.finished) })
        streamer.close()
        #expect(try written().count == 48_000)
    }

    @Test func atAnotherRateItIsAsMuchShorter() throws {
        let sound = try render(["4"]) { $0.rate = 2 }
        #expect(abs(sound.count - 96_000) < 2_400)
    }

    @Test func aFadeInBeginsInSilence() throws {
        let sound = try render(["1"]) { $0.fadeIn(over: .milliseconds(500)) }
        #expect(abs(sound[12_000] / CodedMedia.value(at: 12_000, rate: 48_000) - 0.5) < 0.01)
        #expect(abs(sound[1_200] / CodedMedia.value(at: 1_200, rate: 48_000) - 0.05) < 0.01)
        #expect(abs(sound[30_000] - CodedMedia.value(at: 30_000, rate: 48_000)) < 0.0001)
    }

    /// A fade-out ends with the file, whether its length was known or not.
    @Test(arguments: [nil, Duration.milliseconds(1_500)]) func theEndOfAFileFadesOut(duration: Duration?) throws {
        var fading = configuration()
        (fading.duration, fading.fadeOut) = (duration, .milliseconds(500))
        let sound = try render([duration == nil ? "1.5" : "9"], as: fading)
        #expect(sound.count == 72_000)
        #expect((0..<48_000).allSatisfy { abs(sound[$0] - CodedMedia.value(at: $0, rate: 48_000)) < 0.0001 })
        for (frame, gain) in [(54_000, 0.75), (60_000, 0.5), (71_000, 0.0417), (71_999, 0)] as [(Int, Float)] {
            let share = sound[frame] / CodedMedia.value(at: frame, rate: 48_000)
            #expect(abs(share - gain) < 0.001, "\(frame): \(share)")
        }
        fading.fadeOut = .seconds(5)
        let short = try render(["0.2"], as: fading)
        #expect(short.count == 9_600 && short[9_599] == 0)
    }

    /// Eight channels at the highest rate have the shortest blocks.
    @Test(arguments: [(6, 48_000), (8, 192_000)]) func aFileMayHaveUpToEightChannels(count: Int, rate: Int) throws {
        let format = LPCMFormat(rate: SampleRate(hertz: rate), channelCount: count)
        var configuration = configuration()
        (configuration.channelCount, configuration.sampleRate) = (count, format.rate)
        let streamer = try Streamer(configuration, opener: CodedOpener(format))
        streamer.open("1")
        streamer.play()
        try streamer.wait()
        streamer.close()
        let sound = try written()
        #expect(sound.count == rate * count)
        #expect(
            sound.indices.allSatisfy { abs(sound[$0] - CodedMedia.value(at: $0 / count, rate: rate)) < 0.0001 })
    }

    @Test func levelsAreKeptPerTenthOfASecond() throws {
        var streamer: Streamer?
        _ = try render(["1"]) { streamer = $0 }
        let steps = try #require(streamer).levelHistory.steps(after: 0)
        #expect(steps.count == 10)
        for (index, step) in steps.enumerated() {
            #expect(abs(step.peak - CodedMedia.value(at: index * 4_800 + 4_799, rate: 48_000)) < 0.0001)
        }
    }

    @Test func anEqualizerIsHeard() throws {
        let sound = try render(["1"]) { $0.equalizer = [EqualizerBand(.lowShelf, frequency: 2_000, gain: -20)] }
        #expect(sound.count == 48_000)
        #expect(abs(sound[24_000] / CodedMedia.value(at: 24_000, rate: 48_000) - 0.1) < 0.01)
    }

    /// The limiter reads ahead, but it adds no silence and leaves nothing out.
    @Test func effectsKeepEveryFrameAndItsPosition() throws {
        let sound = try render(["0.5", "0.25", "0.5"]) { streamer in
            #expect(throws: Never.self) { try streamer.setEffects(EffectSettings(filters: "peak:20000:0.01")) }
            streamer.treble = 0.001
        }
        #expect(sound.count == 60_000)
        let starts = [0, 24_000, 36_000]
        for start in starts {
            let place = start + 5_000
            #expect(
                (place..<place + 1_000).allSatisfy {
                    abs(sound[$0] - CodedMedia.value(at: $0 - start, rate: 48_000)) < 0.001
                })
        }
    }

    @Test func wrongEffectsAreRefusedAndChangeNothing() throws {
        let streamer = try Streamer(configuration(), opener: CodedOpener(.mono))
        streamer.bass = 99
        streamer.treble = .nan
        #expect(streamer.bass == 20 && streamer.treble == 0)
        var effects = EffectSettings()
        effects.bass = 21
        #expect(throws: EffectError.self) { try streamer.setEffects(effects) }
        #expect(streamer.bass == 20)
        streamer.close()
    }

    /// Halves the amplitude, and holds back a hundred frames.
    private struct Late: ~Copyable, AudioEffect {
        let format: LPCMFormat
        var held: [Float] = []
        var latency: Double { Double(held.count) }

        mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
            var (consumed, produced) = (0, 0)
            while produced < output.count, consumed < input.count {
                held.append(input[consumed] / 2)
                consumed += 1
                if held.count > 100 {
                    output[produced] = held.removeFirst()
                    produced += 1
                }
            }
            return EffectProgress(consumed: FrameCount(consumed), produced: FrameCount(produced))
        }

        mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount {
            let count = min(held.count, output.count)
            for index in 0..<count { output[index] = held[index] }
            held.removeFirst(count)
            return FrameCount(count)
        }

        mutating func clear() { held = [] }
    }

    @Test func anEffectOfOnesOwnIsHeard() throws {
        var configuration = configuration()
        configuration.makeEffect = { AnyAudioEffect(Late(format: $0)) }
        let streamer = try Streamer(configuration, opener: CodedOpener(.mono))
        streamer.open(["0.5", "0.5"])
        streamer.play()
        try streamer.wait()
        streamer.close()
        let sound = try written()
        #expect(sound.count == 48_000)
        for start in [400, 24_000] {
            #expect(
                (start..<start + 5_000).allSatisfy {
                    abs(sound[$0] - CodedMedia.value(at: $0 % 24_000, rate: 48_000) / 2) < 0.0001
                })
        }
    }

    @Test func loudnessIsReached() throws {
        let sound = try render(["8"]) { streamer in
            #expect(throws: Never.self) {
                var effects = EffectSettings()
                effects.loudness = -30
                effects.filters = [FilterDesign(.highPass, frequency: 20)]
                try streamer.setEffects(effects)
            }
        }
        #expect(sound.count == 384_000)
        var meter = LoudnessMeter(format: .mono)
        meter.append(sound.span.extracting(240_000..<384_000))
        let measured = meter.integrated
        let loudness = try #require(measured)
        #expect(abs(loudness + 30) < 1)
    }

    /// The facts of an item may be large: chapters and pictures.
    @Test func itemsThatWerePlayedAreForgotten() throws {
        let streamer = try Streamer(configuration(), opener: CodedOpener(.mono))
        streamer.open([String](repeating: "0.02", count: 100))
        streamer.play()
        try streamer.wait()
        #expect(streamer.track != nil)
        #expect(streamer.controller.contents.withLock { $0.facts.count } < 20)
        streamer.close()
    }

    @Test(arguments: [-1, 0, 9]) func aNumberOfChannelsThatNoOutputHasIsRefused(count: Int) {
        for output in [StreamerConfiguration.Output.clock, .source, .file(folder("sound.wav"))] {
            var configuration = StreamerConfiguration()
            (configuration.output, configuration.channelCount) = (output, count)
            let error = #expect(throws: StreamError.self) { try Streamer(configuration, opener: CodedOpener(.mono)) }
            #expect(error?.kind == .unusableOutput && error?.description.contains("1 to 8") == true)
        }
    }

    @Test func aFileThatCannotBeWrittenIsRefusedAtOnce() {
        var configuration = configuration()
        configuration.output = .file("/nowhere/sound.wav")
        #expect(throws: StreamError.self) { try Streamer(configuration, opener: CodedOpener(.mono)) }
    }

    private func configuration() -> StreamerConfiguration {
        var configuration = StreamerConfiguration()
        configuration.output = .file(folder("sound.wav"))
        configuration.channelCount = 1
        return configuration
    }

    private func render(
        _ addresses: [String], as configuration: StreamerConfiguration? = nil, _ set: (Streamer) -> Void = { _ in }
    ) throws -> [Float] {
        let streamer = try Streamer(configuration ?? self.configuration(), opener: CodedOpener(.mono))
        set(streamer)
        streamer.open(addresses)
        streamer.play()
        try streamer.wait()
        #expect([.ended(.finished), .ended(.playedEnough)].contains(streamer.state))
        streamer.close()
        return try written()
    }

    private func written() throws -> [Float] {
        var reader = try AudioFileReader(path: folder("sound.wav"))
        var samples: [Float] = []
        var chunk = [Float](repeating: 0, count: 4_800)
        while true {
            var room = chunk.mutableSpan
            let count = try reader.read(into: &room).rawValue
            guard count > 0 else { return samples }
            samples += chunk[..<(count * reader.format.channelCount)]
        }
    }
}
