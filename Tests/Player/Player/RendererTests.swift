import TenfourAudioCore
import TenfourSystem
import Testing

@testable import TenfourPlayer

@Suite struct RendererTests {
    @Test func anOpenStreamPlaysAndIsCounted() {
        var table = Table()
        table.push(frames: 0..<4_800, generation: 1)
        let sound = table.pull(2_400, RendererRequest(generation: 1, isOpen: true))
        // After the fade-in of eight milliseconds, the samples are unchanged.
        #expect((400..<2_400).allSatisfy { sound[$0] == Table.sample(of: $0) })
        #expect(table.consumed == 2_400)
    }

    @Test func aPauseGoesOnWithTheNextFrameAndNoneIsLost() {
        var table = Table()
        table.push(frames: 0..<9_600, generation: 1)
        _ = table.pull(2_400, RendererRequest(generation: 1, isOpen: true))
        let fading = table.pull(960, RendererRequest(generation: 1, isOpen: false))
        let position = table.consumed
        #expect(position > 2_400 && position <= 2_400 + 384, "the fade takes eight milliseconds")
        #expect(fading[400...].allSatisfy { $0 == 0 })
        #expect(table.pull(4_800, RendererRequest(generation: 1, isOpen: false)).allSatisfy { $0 == 0 })
        #expect(table.consumed == position)
        let after = table.pull(960, RendererRequest(generation: 1, isOpen: true))
        #expect((400..<960).allSatisfy { after[$0] == Table.sample(of: position + $0) })
    }

    @Test func aSeekLeavesNothingStale() {
        var table = Table()
        table.push(frames: 0..<4_800, generation: 1)
        _ = table.pull(960, RendererRequest(generation: 1, isOpen: true))
        table.push(frames: 48_000..<52_800, generation: 2)
        let sound = table.pull(1_920, RendererRequest(generation: 2, isOpen: true))
        // The old audio fades out, and then the new audio fades in from its first frame.
        let segment = table.renderer.timeline.last!
        #expect(segment.position == 1_000_000_000)
        let first = FrameCount(segment.start - (.start + .milliseconds(80))).rawValue
        #expect(first > 370 && first < 390)
        #expect((first + 400..<1_920).allSatisfy { sound[$0] == Table.sample(of: 48_000 + $0 - first) })
    }

    @Test func aSeekInAPauseIsHeardOnlyWhenItGoesOn() {
        var table = Table()
        table.push(frames: 0..<4_800, generation: 1)
        _ = table.pull(960, RendererRequest(generation: 1, isOpen: true))
        _ = table.pull(960, RendererRequest(generation: 1, isOpen: false))
        table.push(frames: 48_000..<52_800, generation: 2)
        #expect(table.pull(960, RendererRequest(generation: 2, isOpen: false)).allSatisfy { $0 == 0 })
        #expect(table.position == .seconds(1), "a seek in a pause moves the position")
        let after = table.pull(960, RendererRequest(generation: 2, isOpen: true))
        #expect((400..<960).allSatisfy { after[$0] == Table.sample(of: 48_000 + $0) })
    }

    @Test func soundThatCameTooEarlyWaitsForItsOrders() {
        var table = Table()
        table.push(frames: 0..<480, generation: 1)
        table.push(frames: 48_000..<48_960, generation: 2)
        let early = table.pull(960, RendererRequest(generation: 1, isOpen: true))
        #expect(table.consumed == 480)
        #expect(abs(early[959]) < 0.001)
        let after = table.pull(960, RendererRequest(generation: 2, isOpen: true))
        #expect((400..<960).allSatisfy { after[$0] == Table.sample(of: 48_000 + $0) })
    }

    /// A click is a large step between two frames: no start, end, jump or underrun causes a step larger than the
    /// steepest of the short fades.
    @Test func nothingClicks() {
        var table = Table { _ in 0.5 }
        var heard: [Float] = []
        func pull(_ count: Int, _ requested: RendererRequest) { heard += table.pull(count, requested) }
        table.push(frames: 0..<4_800, generation: 1)
        pull(1_000, RendererRequest(generation: 1, isOpen: true))
        pull(1_000, RendererRequest(generation: 1, isOpen: false))
        pull(1_000, RendererRequest(generation: 1, isOpen: true))
        pull(1_000, RendererRequest(generation: 1, isOpen: true, volume: GainRamp(0.2)))
        table.push(frames: 0..<960, generation: 2)
        pull(1_920, RendererRequest(generation: 2, isOpen: true, volume: GainRamp(1)))
        // The ring is empty now.
        table.push(frames: 960..<1_200, generation: 2)
        pull(300, RendererRequest(generation: 2, isOpen: true))
        table.push(frames: 0..<4_800, generation: 3)
        pull(960, RendererRequest(generation: 3, isOpen: true))
        pull(100, RendererRequest(generation: 4, isOpen: true))
        pull(960, RendererRequest(generation: 4, isOpen: false))
        let steps = zip(heard, heard.dropFirst()).map { abs($0 - $1) }
        #expect(heard.contains { $0 > 0.49 })
        let steepest: Float = 0.5 * 1.6 * 1_000 / (8 * 48_000)
        #expect(steps.max()! < steepest)
    }

    @Test func aFadeLastsAsLongAsItShould() {
        var table = Table { _ in 1 }
        table.push(frames: 0..<19_200, generation: 1)
        _ = table.pull(4_800, RendererRequest(generation: 1, isOpen: true))
        let sound = table.pull(
            9_600, RendererRequest(generation: 1, isOpen: true, fade: GainRamp(0, over: .milliseconds(200))))
        #expect(abs(sound[4_800] - 0.5) < 0.01)
        #expect(abs(sound[2_400] - 0.75) < 0.01)
        #expect(abs(sound[9_599]) < 0.01)
    }

    @Test func aFadeThatIsWantedAgainBeginsAgainAndNoneIsLeftWhenItIsOver() {
        var table = Table { _ in 1 }
        table.push(frames: 0..<19_200, generation: 1)
        var ramp = GainRamp(1, over: .milliseconds(200))
        func requested(isOpen: Bool = true) -> RendererRequest {
            RendererRequest(generation: 1, isOpen: isOpen, fade: ramp)
        }
        _ = table.pull(4_800, requested())
        _ = table.pull(960, requested(isOpen: false))
        ramp.number += 1
        #expect(table.pull(960, requested())[959] < 0.2, "the volume fades in from silence")
        ramp = GainRamp(0)
        #expect(table.pull(1_920, requested())[1_919] == 0)
        ramp = .none
        #expect(table.pull(960, requested()).allSatisfy { $0 == 0 }, "the last gain is kept while audio plays")
        #expect(table.pull(960, requested(isOpen: false)).allSatisfy { $0 == 0 })
        #expect(table.pull(960, requested())[959] == 1)
    }

    @Test func thePositionIsThatOfWhatIsHeardNow() {
        var table = Table()
        table.push(frames: 0..<48_000, generation: 1)
        let requested = RendererRequest(generation: 1, isOpen: true)
        for _ in 0..<10 { _ = table.pull(960, requested) }
        // 200 ms have been written to a card that plays them 60 ms later.
        #expect(
            table.renderer.timeline.segment(at: .start + .milliseconds(160))?.position(at: .start + .milliseconds(160))
                == 100_000_000)
        // The audio pulled now is heard at 260 ms and later.
        _ = table.pull(960, RendererRequest(generation: 1, isOpen: false))
        let still = table.renderer.timeline.segment(at: .start + .milliseconds(300))
        #expect(still?.rate == 0)
        #expect(abs(still!.position - 208_000_000) < 1_000_000)
        let before = table.renderer.timeline.segment(at: .start + .milliseconds(250))!
        #expect(before.position(at: .start + .milliseconds(250)) == 190_000_000)
    }

    @Test func atAnotherRateThePositionRunsFaster() {
        var table = Table()
        table.push(frames: 0..<4_800, generation: 1, rate: 2)
        _ = table.pull(960, RendererRequest(generation: 1, isOpen: true))
        let moment = Instant.start + .milliseconds(80)
        #expect(table.renderer.timeline.segment(at: moment)?.position(at: moment) == 40_000_000)
    }
}

/// A renderer with its ring buffer, and a card that plays 60 ms after a write.
private struct Table: ~Copyable {
    private(set) var renderer: Renderer
    private let producer: RingBufferProducer<AudioBlock>
    private var sound = FixedBuffer<Float>(repeating: 9, count: 48_000)
    private var moment = Instant.start + .milliseconds(60)
    private let value: (Int) -> Float

    init(_ value: @escaping (Int) -> Float = Table.sample) {
        let ring = RingBuffer(capacity: 256, filler: AudioBlock())
        renderer = Renderer(format: .mono, blocks: ring.consumer)
        producer = ring.producer
        self.value = value
    }

    var consumed: Int { renderer.consumed }

    /// The last position that will be heard.
    var position: Duration? { renderer.timeline.last.map { .nanoseconds($0.position) } }

    /// Returns the sample of a frame: each frame has a different value, none is zero.
    static func sample(of frame: Int) -> Float { 0.1 + Float(frame % 48_000) / 96_000 + Float(frame / 48_000) * 0.2 }

    func push(frames: Range<Int>, generation: Int, rate: Double = 1) {
        for start in stride(from: frames.lowerBound, to: frames.upperBound, by: 480) {
            var block = AudioBlock()
            block.generation = generation
            block.position = Int64(Double(start) * rate * 1e9 / 48_000)
            block.rate = rate
            block.frameCount = min(480, frames.upperBound - start)
            for index in 0..<block.frameCount { block.samples[index] = value(start + index) }
            let isTaken = producer.push(block)
            precondition(isTaken)
        }
    }

    mutating func pull(_ count: Int, _ requested: RendererRequest) -> [Float] {
        renderer.pull(count, into: &sound, at: moment, requested)
        moment = moment + FrameCount(count).duration()
        return (0..<count).map { sound[$0] }
    }
}
