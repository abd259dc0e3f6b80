import Dispatch
import Glibc
import TenfourAudioCore
import TenfourMediaSource
import TenfourSystem
import TestSupport
import Testing

@testable import TenfourPlayer

/// What a program hears of the audio that is played.
@Suite(.onItsOwnThread) struct AudioTapTests {
    private let folder = Folder()

    private func streamer(
        _ output: StreamerConfiguration.Output, _ tap: @escaping @Sendable (TappedAudio) -> Void
    ) throws -> Streamer {
        var configuration = StreamerConfiguration()
        configuration.output = output
        configuration.channelCount = 1
        configuration.tap = tap
        return try Streamer(configuration, opener: CodedOpener(.mono))
    }

    @Test func whatIsWrittenIsTappedFrameByFrameWithItsPlace() throws {
        let heard = Locked<[TappedAudio]>([])
        let streamer = try streamer(.file(folder("out.wav"))) { block in heard.withLock { $0.append(block) } }
        streamer.volume = 0.5
        streamer.open(["0.5", "0.25"])
        streamer.play()
        try streamer.wait()
        streamer.close()
        let blocks = heard.withLock { $0 }
        #expect(blocks.allSatisfy { $0.lost == .zero && $0.format == .mono && $0.rate == 1 && $0.samples.count <= 960 })
        let written = try Recording(wav: folder("out.wav")).channels[0]
        let tapped = blocks.flatMap { $0.samples }
        #expect(tapped.count == 36_000 && zip(tapped, written).allSatisfy { abs($0 - $1) < 0.0001 })
        var frame = 0
        for block in blocks {
            let (item, start) = frame < 24_000 ? (0, frame) : (1, frame - 24_000)
            #expect(block.item == item)
            #expect(abs(block.position.value / .seconds(1) - Double(start) / 48_000) < 0.00001)
            frame += block.samples.count
        }
    }

    @Test func aSlowTapLosesNothingOfAFileAndCloseWaitsForIt() throws {
        let count = Locked(0)
        let streamer = try streamer(.file(folder("out.wav"))) { block in
            usleep(500)
            count.withLock { $0 += block.samples.count }
        }
        try streamer.playToEnd("8")
        streamer.close()
        #expect(count.withLock { $0 } == 384_000)
    }

    @Test(.inRealTime) func aTapThatBlocksDoesNotDisturbPlayback() throws {
        let gate = DispatchSemaphore(value: 0)
        let streamer = try streamer(.clock) { _ in gate.wait() }
        streamer.open("0.5")
        streamer.play()
        try streamer.wait()
        #expect(streamer.state == .ended(.finished) && streamer.progress.position.value == .milliseconds(500))
        for _ in 0..<1_000 { gate.signal() }
        streamer.close()
    }

    @Test func lostFramesAreCountedAndTold() throws {
        let ring = RingBuffer(capacity: TapWriter.capacity, filler: TapBlock())
        let consumer = ring.consumer
        var writer = TapWriter(ring.producer, try TapSignals())
        let samples = FixedBuffer<Float>(repeating: 0.5, count: 480)
        func record(_ count: Int) {
            for _ in 0..<count {
                writer.record(0..<480, of: samples, channelCount: 1, from: AudioBlock(), at: 7, .start)
            }
        }
        record(TapWriter.capacity + 10)
        let hasRoom = writer.hasRoom()
        #expect(!hasRoom)
        var block = TapBlock()
        let isThere = consumer.pop(into: &block)
        #expect(isThere && block.lost == 0 && block.sampleCount == 480 && block.position == 7)
        record(2)
        var blocks: [TapBlock] = []
        while consumer.pop(into: &block) { blocks.append(block) }
        #expect(blocks.count == TapWriter.capacity && blocks.last?.lost == 4_800)
        record(1)
        let isNext = consumer.pop(into: &block)
        #expect(isNext && block.lost == 480)
    }
}
