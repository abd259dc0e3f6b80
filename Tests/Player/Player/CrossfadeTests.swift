import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourMediaSource
import TestSupport
import Testing

@testable import TenfourPlayer

/// Crossfades that are written into a file and measured.
@Suite(.onItsOwnThread) struct CrossfadeTests {
    private let folder = Folder()

    /// Writes noise, which differs with the seed, and returns it.
    @discardableResult
    private func noise(_ name: String, seconds: Double, seed: UInt32) throws -> [Float] {
        var state = seed
        let samples = (0..<Int(seconds * 48_000)).map { _ -> Float in
            state = state &* 1_664_525 &+ 1_013_904_223
            return (Float(state >> 8) / 16_777_216 - 0.5) * 0.6
        }
        var file = try AudioFileWriter(path: folder(name), format: .mono)
        try file.write(samples.span)
        try file.close()
        return samples
    }

    private func play(
        _ names: [String], over crossfade: Duration, skipsSilence: Bool = false
    ) throws -> [Float] {
        var configuration = StreamerConfiguration()
        configuration.output = .file(folder("out.wav"))
        configuration.channelCount = 1
        configuration.crossfade = crossfade
        let streamer = try Streamer(configuration)
        streamer.skipsSilence = skipsSilence
        streamer.open(names.map { folder($0) })
        streamer.play()
        try streamer.wait()
        streamer.close()
        return try Recording(wav: folder("out.wav")).channels[0]
    }

    private func level(_ samples: ArraySlice<Float>) -> Double {
        10 * log10(samples.reduce(0) { $0 + Double($1 * $1) } / Double(samples.count))
    }

    @Test func itHasEqualPowerAndLosesNoSample() throws {
        let (one, two) = (try noise("1.wav", seconds: 2, seed: 1), try noise("2.wav", seconds: 2, seed: 2))
        let sound = try play(["1.wav", "2.wav"], over: .milliseconds(800))
        let length = one.count + two.count - sound.count
        #expect((36_000...38_400).contains(length), "it begins at most 50 ms late")
        let start = one.count - length
        for index in 0..<length {
            let angle = (Double(index) + 0.5) / Double(length) * .pi / 2
            let mixed = Double(one[start + index]) * cos(angle) + Double(two[index]) * sin(angle)
            guard abs(Double(sound[start + index]) - mixed) < 0.0002 else {
                Issue.record("the sample \(index) of the crossfade differs")
                break
            }
        }
        #expect((400..<start).allSatisfy { abs(sound[$0] - one[$0]) < 0.0002 })
        #expect((length..<two.count).allSatisfy { abs(sound[start + $0] - two[$0]) < 0.0002 })
        let usual = level(sound[9_600..<start])
        for place in stride(from: start, to: start + length - 4_800, by: 2_400) {
            #expect(abs(level(sound[place..<place + 4_800]) - usual) < 0.5)
        }
    }

    @Test func tracksOfASheetAreNotCrossfaded() throws {
        let whole = try noise("album.wav", seconds: 2, seed: 3)
        folder.write(
            "FILE album.wav WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0\nTRACK 2 AUDIO\nINDEX 1 0:1:0\n", to: "album.cue")
        let sound = try play(["album.cue"], over: .milliseconds(500))
        #expect(sound.count == whole.count)
        #expect((400..<whole.count).allSatisfy { abs(sound[$0] - whole[$0]) < 0.0002 })
    }

    @Test func anItemThatIsShorterOrBrokenLosesNothingOfTheOthers() throws {
        let (one, two) = (try noise("1.wav", seconds: 1, seed: 1), try noise("2.wav", seconds: 0.1, seed: 2))
        let sound = try play(["1.wav", "2.wav"], over: .milliseconds(500))
        #expect(sound.count == one.count, "the short item lies within the end of the other")
        #expect(two.count < 24_000)
        folder.write("no audio", to: "3.wav")
        let again = try play(["1.wav", "3.wav", "1.wav"], over: .milliseconds(500))
        #expect(again.count == 2 * one.count, "before what cannot be played there is no crossfade")
    }

    /// The gains of equal power add up to 1.41, so that two loud items would be clipped.
    @Test func loudItemsAreNotClipped() throws {
        let sine = (0..<96_000).map { 0.999 * sinf(2 * .pi * 440 * Float($0) / 48_000) }
        for name in ["1.wav", "2.wav"] {
            var file = try AudioFileWriter(path: folder(name), format: .mono)
            try file.write(sine.span)
            try file.close()
        }
        let sound = try play(["1.wav", "2.wav"], over: .seconds(1))
        let middle = 96_000 - 24_000
        let peak = { (samples: ArraySlice<Float>) in samples.map(\.magnitude).max() ?? 0 }
        #expect(peak(sound[middle - 9_600..<middle + 9_600]) < 0.9, "the limiter works")
        #expect(peak(sound[24_000..<43_200]) > 0.998 && peak(sound[110_000..<130_000]) > 0.998, "and only there")
    }

    /// Samples behind a pause that is held back are not thrown away where the crossfade begins.
    @Test func noSpeechIsLostWithSkippedSilence() throws {
        var one = try noise("1.wav", seconds: 2, seed: 1)
        for index in 52_800..<72_300 { one[index] = 0 }
        var file = try AudioFileWriter(path: folder("1.wav"), format: .mono)
        try file.write(one.span)
        try file.close()
        let two = try noise("2.wav", seconds: 2, seed: 2)
        let sound = try play(["1.wav", "2.wav"], over: .milliseconds(500), skipsSilence: true)
        let length = one.count + two.count - sound.count
        #expect((19_200...24_000).contains(length), "\(length) frames")
        let start = one.count - length
        #expect((400..<start).allSatisfy { abs(sound[$0] - one[$0]) < 0.0002 })
    }

    /// A crossfade reads no more of the item before than of the next one.
    @Test func bothItemsAreReadBlockByBlock() throws {
        let (one, two) = (CodedMedia(seconds: 2, format: .mono), CodedMedia(seconds: 0.6, format: .mono))
        let reader = CrossfadeReader(two, fading: FadingItem(one, frameCount: 48_000, one))
        var block = [Float](repeating: 0, count: 512)
        var count = 0
        while count < 48_000 {
            var room = block.mutableSpan
            let read = try reader.read(into: &room).rawValue
            #expect(read > 0)
            count += read
            #expect(FrameCount(one.position.value).rawValue == count)
        }
        #expect(reader.isOver && one.isStopped && count == 48_000)
        var room = block.mutableSpan
        #expect(try reader.read(into: &room) == .zero)
    }

    /// The next item cannot be opened: this one is played to its end, and the player can be closed.
    @Test func openingTheNextItemDoesNotHoldUpPlayback() throws {
        var configuration = StreamerConfiguration()
        configuration.output = .clock
        configuration.channelCount = 1
        configuration.crossfade = .milliseconds(800)
        let streamer = try Streamer(configuration, opener: CodedOpener(.mono, .lateAgain))
        streamer.open(["1.5", "1"])
        streamer.play()
        #expect(waiting { streamer.progress.position.value >= .seconds(1.4) })
        let begin = ContinuousClock.now
        streamer.close()
        #expect(ContinuousClock.now - begin < .seconds(10))
    }
}
