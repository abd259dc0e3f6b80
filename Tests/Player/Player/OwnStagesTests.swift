import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourEffects
import TenfourMediaSource
import TenfourSystem
import TestSupport
import Testing

@testable import TenfourPlayer

/// Sources, decoders, effects and taps of a program's own.
@Suite(.onItsOwnThread) struct OwnStagesTests {
    private let folder = Folder()

    private func configuration() -> StreamerConfiguration {
        var configuration = StreamerConfiguration()
        configuration.output = .file(folder("out.wav"))
        configuration.channelCount = 1
        return configuration
    }

    private func play(
        _ items: [QueueItem], _ configuration: StreamerConfiguration, at position: Duration? = nil
    ) throws -> [Float] {
        let streamer = try Streamer(configuration)
        streamer.open(items: items, at: position)
        streamer.play()
        do {
            try streamer.wait()
        } catch {
            streamer.close()
            throw error
        }
        streamer.close()
        return try Recording(wav: folder("out.wav")).channels[0]
    }

    private static func wav(seconds: Double) -> [UInt8] {
        Recording(channels: [(0..<Int(seconds * 48_000)).map { CodedMedia.value(at: $0, rate: 48_000) }]).wav()
    }

    @Test func bytesOfOnesOwnArePlayedAmongOthersWithoutAGap() throws {
        folder.write(Self.wav(seconds: 0.25), to: "file.wav")
        let own = QueueItem(named: "own\u{1B}") { StoredBytes(Self.wav(seconds: 0.5)) }
        #expect(!own.name.contains("\u{1B}") && own.url == nil)
        let sound = try play([own, QueueItem(folder("file.wav")), own], configuration())
        #expect(sound.count == 60_000)
        for start in [0, 24_000, 36_000] {
            #expect(
                (400..<1_400).allSatisfy { abs(sound[start + $0] - CodedMedia.value(at: $0, rate: 48_000)) < 0.001 })
        }
    }

    @Test func bytesThatCannotBeOpenedAreSkippedWithTheirKind() throws {
        let broken = QueueItem(named: "broken") { () throws(ByteSourceError) in
            throw .failed("the vault is locked", kind: .notPermitted)
        }
        let error = #expect(throws: StreamError.self) { _ = try play([broken], configuration()) }
        #expect(error?.kind == .notPermitted && error?.description == "the vault is locked")
        let sound = try play(
            [broken, QueueItem(named: "own") { StoredBytes(Self.wav(seconds: 0.2)) }], configuration())
        #expect(sound.count == 9_600)
    }

    /// One byte stands for 1/100 s of a constant level.
    private final class Steps: PacketDecoding {
        let decodedFormat = LPCMFormat(rate: SampleRate(hertz: 24_000), channelCount: 1)
        let bitRate: Int? = 800
        var packetStart = 0
        private let bytes: [UInt8]
        private var next = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var track: Track { Track(codec: "steps", format: decodedFormat) }
        var duration: Estimate<Duration>? { Estimate(.milliseconds(10 * bytes.count), isExact: true) }

        func nextPacket() -> PacketDescription? {
            guard next < bytes.count else { return nil }
            packetStart = 240 * next
            next += 1
            return PacketDescription(offset: next - 1, byteCount: 1, frameCount: FrameCount(240))
        }

        func seek(to position: Duration) -> Estimate<Duration> {
            next = min(Int(position / .milliseconds(10)), bytes.count)
            return Estimate(.milliseconds(10 * next), isExact: true)
        }

        func decode(into samples: inout MutableSpan<Float>) -> Int? {
            // A bad decoder's count is not trusted.
            if bytes[next - 1] == 255 { return 1 << 40 }
            for index in 0..<240 { samples[index] = Float(bytes[next - 1]) / 200 }
            return 240
        }
    }

    private func steps(_ configuration: inout StreamerConfiguration, asked: Locked<[String]>) {
        configuration.makeReader = { (byteSource, item, format) throws(ReaderError) in
            asked.withLock { $0.append(item.name) }
            guard item.name.hasSuffix(".steps") else { return nil }
            var window = ByteWindow(of: byteSource)
            do throws(ByteSourceError) {
                try window.load(at: 0, count: 4_096)
            } catch { throw .demuxer(.byteSource(error)) }
            return try PacketReader(Steps(window.copiedBytes), format: format)
        }
    }

    @Test func aDecoderOfOnesOwnIsConvertedSoughtAndFollowedByTheOthers() throws {
        folder.write([UInt8](repeating: 50, count: 50) + [255] + [UInt8](repeating: 100, count: 50), to: "a.steps")
        folder.write(Self.wav(seconds: 0.25), to: "b.wav")
        let asked = Locked<[String]>([])
        var configuration = configuration()
        steps(&configuration, asked: asked)
        let sound = try play([QueueItem(folder("a.steps")), QueueItem(folder("b.wav"))], configuration)
        #expect(asked.withLock { $0 } == [folder("a.steps"), folder("b.wav")])
        #expect(abs(sound[12_000] - 0.25) < 0.001 && abs(sound[40_000] - 0.5) < 0.001)
        #expect(abs(sound.count - 48_000 - 12_000) < 600)

        let part = try play([QueueItem(folder("a.steps"))], configuration, at: .milliseconds(705))
        #expect(abs(part.count - 14_640) < 100 && abs(part[7_000] - 0.5) < 0.001)
    }

    /// The waveform is that of the samples that the reader returns, and the reader is made once.
    @Test func theWaveformComesFromTheReaderOfOnesOwn() throws {
        folder.write(Self.wav(seconds: 1), to: "a.wav")
        let count = Locked(0)
        var configuration = StreamerConfiguration()
        (configuration.output, configuration.channelCount, configuration.waveformBarCount) = (.clock, 1, 100)
        configuration.makeReader = { (_, _, format) throws(ReaderError) in
            count.withLock { $0 += 1 }
            return CodedMedia(seconds: 1, format: format ?? .mono)
        }
        let streamer = try Streamer(configuration)
        defer { streamer.close() }
        streamer.open(folder("a.wav"))
        streamer.play()
        try streamer.wait()
        #expect(count.withLock { $0 } == 1)
        #expect(streamer.waveform?.isExact != true)
    }

    @Test func aReaderWithAnotherFormatIsRefusedByASentence() throws {
        var configuration = configuration()
        configuration.makeReader = { (byteSource, _, _) throws(ReaderError) in
            CodedMedia(seconds: 1, format: LPCMFormat(rate: SampleRate(hertz: 8_000), channelCount: 1))
        }
        let error = #expect(throws: StreamError.self) {
            _ = try play([QueueItem(named: "own") { StoredBytes([1]) }], configuration)
        }
        #expect(error?.description.contains("PacketReader") == true)
    }

    @Test func theFileTypeOverridesDetection() throws {
        // These bytes look like a playlist. As WAV they are damaged.
        let text = Array("#EXTM3U\nnothing.mp3\n".utf8)
        var item = QueueItem(named: "list") { StoredBytes(text) }
        item.fileType = ContainerFormat(named: ".WAV")
        let error = #expect(throws: StreamError.self) { _ = try play([item], configuration()) }
        #expect(error?.kind == .damaged && error?.description.contains("looks like") == true)
        #expect(ContainerFormat(named: "txt") == nil)
        #expect(["mpc", "mts", "mpga", "rf64"].allSatisfy { ContainerFormat(named: $0) != nil })
        #expect(ContainerFormat.knownNames.allSatisfy { ContainerFormat(named: $0) != nil })
    }
}

/// Multiplies by a factor.
private struct Gain: InPlaceEffect {
    let format: LPCMFormat
    let factor: Float

    mutating func apply(to samples: inout MutableSpan<Float>) {
        for index in samples.indices { samples[index] *= factor }
    }
    mutating func clear() {}
}

/// Effects of a program's own, one behind the other and replaced during playback.
@Suite(.onItsOwnThread) struct OwnEffectTests {
    @Test func aChainOfThreeWorksInOrder() throws {
        let folder = Folder()
        folder.write(Recording(channels: [[Float](repeating: 0.8, count: 24_000)]).wav(), to: "in.wav")
        var configuration = StreamerConfiguration()
        configuration.output = .file(folder("out.wav"))
        configuration.channelCount = 1
        configuration.makeEffect = { format in
            AnyAudioEffect(Gain(format: format, factor: 0.5)).followed(by: AnyAudioEffect(NoEffect(format: format)))
                .followed(by: AnyAudioEffect(Gain(format: format, factor: 0.25)))
        }
        let streamer = try Streamer(configuration)
        try streamer.playToEnd(folder("in.wav"))
        streamer.close()
        let sound = try Recording(wav: folder("out.wav")).channels[0]
        #expect(sound.count == 24_000 && abs(sound[12_000] - 0.1) < 0.001)
    }

    @Test func aReplacementFadesWithoutAStep() {
        var effect = ReplaceableEffect(AnyAudioEffect(Gain(format: .mono, factor: 1)))
        let input = [Float](repeating: 1, count: 480)
        var heard: [Float] = []
        for block in 0..<6 {
            if block == 2 { effect.replace(by: AnyAudioEffect(Gain(format: .mono, factor: 0.5))) }
            var output = [Float](repeating: 0, count: 480)
            var room = output.mutableSpan
            let progress = effect.process(input.span, into: &room)
            #expect(progress.consumed == FrameCount(480) && progress.produced == FrameCount(480))
            heard += output
        }
        #expect(heard[959] == 1 && heard[1_439] == 0 && heard[2_879] == 0.5)
        let steps = zip(heard, heard.dropFirst()).map { abs($0 - $1) }
        #expect(steps.max()! < 0.005)
    }

    @Test func aSeekTakesOverTheReplacementAtOnce() {
        var effect = ReplaceableEffect(AnyAudioEffect(Gain(format: .mono, factor: 1)))
        effect.replace(by: AnyAudioEffect(Gain(format: .mono, factor: 0.5)))
        effect.clear()
        var output = [Float](repeating: 0, count: 4)
        var room = output.mutableSpan
        _ = effect.process([1, 1, 1, 1].span, into: &room)
        #expect(output == [0.5, 0.5, 0.5, 0.5])
    }
}
