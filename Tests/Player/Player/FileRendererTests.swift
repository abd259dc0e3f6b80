import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourEffects
import TenfourMediaSource
import TestSupport
import Testing

@testable import TenfourPlayer

/// Streams into a file instead of a card, so that the output can be checked sample by sample.
@Suite(.onItsOwnThread) struct FileRendererTests {
    private let folder = Folder()

    @Test func aFileHoldsEveryFrameOnce() throws {
        let sound = try render(["1.5"])
        #expect(sound.count == 72_000)
        // After the fade-in of eight milliseconds, the samples are unchanged.
        #expect((384..<72_000).allSatisfy { abs(sound[$0] - CodedMedia.value(at: $0, rate: 48_000)) < 0.0001 })
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
        #expect(waiting { streamer.state == .ended(.finished) })
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

    private func render(_ addresses: [String], _ set: (Streamer) -> Void = { _ in }) throws -> [Float] {
        let streamer = try Streamer(configuration(), opener: CodedOpener(.mono))
        set(streamer)
        streamer.open(addresses)
        streamer.play()
        try streamer.wait()
        #expect(streamer.state == .ended(.finished))
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
            samples += chunk[..<count]
        }
    }
}
