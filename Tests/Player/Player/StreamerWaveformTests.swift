import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourMediaSource
import TenfourSystem
import TenfourWaveform
import TestSupport
import Testing

@testable import TenfourPlayer

/// The waveform of what is played.
@Suite(.onItsOwnThread, .inRealTime) struct StreamerWaveformTests {
    private let folder = Folder()
    private static let barCount = 300

    private func play(
        _ address: String, _ opener: (any QueueItemOpener)? = nil, store: (any WaveformStore)? = nil,
        _ change: (inout StreamerConfiguration) -> Void = { _ in }
    ) throws -> Streamer {
        var configuration = StreamerConfiguration()
        configuration.output = .clock
        configuration.waveformBarCount = Self.barCount
        configuration.waveformStore = store
        change(&configuration)
        let streamer =
            try opener.map { opener throws(StreamError) in try Streamer(configuration, opener: opener) }
            ?? Streamer(configuration)
        streamer.open(address)
        streamer.play()
        return streamer
    }

    /// Returns the bars of one pass that knows the length in advance, as `tenfour plot` makes them.
    private func plotted<Source: AudioSource & ~Copyable>(_ open: () throws -> Source) throws -> Bars {
        var bars = Bars()
        var count = 0
        for _ in 0..<2 {
            var source = try open()
            let channelCount = source.format.channelCount
            var reduction = BarReduction(
                barCount: Self.barCount, channelCount: channelCount, expecting: FrameCount(count))
            var block = [Float](repeating: 0, count: 1_000 * channelCount)
            while true {
                var room = block.mutableSpan
                let got = try source.read(into: &room).rawValue
                guard got > 0 else { break }
                reduction.append(block.span.extracting(0..<got * channelCount))
            }
            (bars, count) = (reduction.bars(), reduction.frameCount)
        }
        return bars
    }

    private func convert(_ name: String, _ options: [String]) throws -> String {
        let run = try Program.run(
            "ffmpeg", ["-v", "error", "-nostdin", "-i", folder("sound.wav")] + options + [folder(name)])
        try #require(run.end == .code(0), "\(run.errors)")
        return folder(name)
    }

    /// Variable bit rates with and without a header, lossless and lossy, and samples without a codec.
    @Test(arguments: [
        ("a.mp3", ["-b:a", "64k"]), ("b.mp3", ["-q:a", "5"]),
        ("c.mp3", ["-q:a", "5", "-write_xing", "0", "-id3v2_version", "0"]), ("d.flac", []), ("e.opus", []),
        ("f.m4a", []), ("sound.wav", []),
    ])
    func aFileEndsWithTheBarsOfAPlot(name: String, options: [String]) throws {
        folder.write(CodedAudio(seconds: 12).wav, to: "sound.wav")
        let path = name == "sound.wav" ? folder(name) : try convert(name, options)
        let expected = try plotted { try ReaderSource(path) }
        let streamer = try play(path)
        defer { streamer.close() }
        #expect(waiting(60) { streamer.waveform?.isExact == true })
        let waveform = try #require(streamer.waveform)
        #expect(waveform.partialBars.bars == expected && expected.isExact)
        #expect(waveform.readShare == 1 && waveform.partialBars.readRanges == [0..<Self.barCount])
    }

    /// The bytes arrive and are kept: nothing is requested a second time.
    @Test(arguments: [true, false]) func aDownloadEndsWithTheBarsOfAPlot(isKept: Bool) throws {
        folder.write(CodedAudio(seconds: 12).wav, to: "sound.wav")
        let name = try convert("a.mp3", ["-b:a", "64k"])
        let server = try SoundServer(folder)
        let expected = try plotted { try ReaderSource(name) }
        let streamer = try play(server.address("a.mp3")) { $0.download.buffersAll = isKept }
        defer { streamer.close() }
        #expect(waiting(60) { streamer.waveform?.isExact == true })
        #expect(streamer.waveform?.partialBars.bars == expected, "the same to the bit")
        #expect(server.requests.count == 1, "nothing is fetched for the waveform: \(server.requests)")
    }

    @Test func theMarksOfARecordingAreToldAndAFileIsReadOnce() throws {
        var file = try AudioFileWriter(path: folder("marked.wav"), format: .mono)
        file.marks.add(FrameCount(24_000)..<FrameCount(48_000))
        try file.write([Float](repeating: 0.1, count: 96_000).span)
        try file.close()
        let store = KeptWaveforms()
        for round in 1...2 {
            let streamer = try play(folder("marked.wav"), store: store)
            #expect(waiting(60) { streamer.waveform?.isExact == true })
            #expect(streamer.waveform?.markedRanges == [MarkedRange(.milliseconds(500) ..< .seconds(1))])
            streamer.close()
            #expect(store.counts == (round, 1))
        }
    }

    /// A source whose bytes cannot be read twice: the bars are of what is decoded for playback.
    @Test func otherSourcesAreShownAsTheyArePlayed() throws {
        let streamer = try play("100", CodedOpener(.stereo))
        defer { streamer.close() }
        #expect(waiting(60) { streamer.waveform?.partialBars.readRanges.first?.lowerBound == 0 })
        streamer.seek(to: .seconds(50))
        // The same value is judged as was waited for.
        var seen: WaveformProgress?
        try #require(
            waiting(60) {
                seen = streamer.waveform
                return seen?.partialBars.readRanges.count == 2
            })
        let waveform = try #require(seen)
        #expect(waveform.partialBars.readRanges[1].lowerBound == 150 && !waveform.isExact)
        #expect(waveform.partialBars.bars.peaks[150] > -20 && waveform.partialBars.bars.peaks[100] == -70)
        #expect(abs(waveform.duration.inSeconds - 100) < 0.01)
    }

    @Test func nothingIsMadeUnlessItIsWanted() throws {
        folder.write(CodedAudio(seconds: 5).wav, to: "sound.wav")
        let streamer = try play(folder("sound.wav")) { $0.waveformBarCount = nil }
        #expect(waiting(60) { streamer.state == .playing } && streamer.waveform == nil && !streamer.makesWaveform)
        streamer.close()
        var configuration = StreamerConfiguration()
        configuration.output = .clock
        configuration.waveformBarCount = 10
        let other = try Streamer(configuration)
        defer { other.close() }
        other.makesWaveform = false
        other.open(folder("sound.wav"))
        other.play()
        #expect(waiting(60) { other.progress.position.value > .milliseconds(300) } && other.waveform == nil)
        other.makesWaveform = true
        #expect(waiting(60) { other.waveform?.isExact == true })
    }

    /// Another item has another waveform, and the same one again has its own at once.
    @Test func eachItemHasItsOwn() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 4)]).wav(), to: "1.wav")
        folder.write(Recording(channels: [Tone.samples(seconds: 6)]).wav(), to: "2.wav")
        let streamer = try play(folder("1.wav"))
        defer { streamer.close() }
        streamer.enqueue(folder("2.wav"))
        func shows(_ seconds: Double) -> Bool {
            waiting(60) { streamer.waveform.map { $0.isExact && $0.duration.inSeconds == seconds } ?? false }
        }
        #expect(shows(4))
        streamer.next()
        #expect(shows(6))
        streamer.seek(to: .seconds(5))
        #expect(shows(6))
    }
}

/// Keeps waveforms in memory, and counts how often one was asked for and kept.
private final class KeptWaveforms: WaveformStore {
    private let contents = Locked((kept: [MediaIdentity: WaveformProgress](), asked: 0, keptCount: 0))

    var counts: (asked: Int, kept: Int) { contents.withLock { ($0.asked, $0.keptCount) } }

    func waveform(of identity: MediaIdentity, barCount: Int) -> WaveformProgress? {
        contents.withLock { contents in
            contents.asked += 1
            return contents.kept[identity]
        }
    }

    func keep(_ waveform: WaveformProgress, of identity: MediaIdentity, barCount: Int) {
        contents.withLock { contents in
            contents.keptCount += 1
            contents.kept[identity] = waveform
        }
    }
}
