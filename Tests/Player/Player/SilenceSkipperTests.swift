import Glibc
import Synchronization
import TenfourAudioCore
import TenfourEffects
import TenfourMediaSource
import TenfourSystem
import Testing

@testable import TenfourPlayer

/// Speech with pauses. The samples outside pauses reveal their position in the second, as those of `CodedMedia`.
private final class Speech: MediaReader, Demuxer {
    let format = LPCMFormat.mono
    let track = Track(codec: "speech", format: .mono)
    var bitRate: Int? { nil }
    private let pauses: [Range<Int>]
    private let frameCount: Int
    private var next = 0

    init(seconds: Double, pauses: [Range<Double>]) {
        frameCount = Int(seconds * 48_000)
        self.pauses = pauses.map { Int($0.lowerBound * 48_000)..<Int($0.upperBound * 48_000) }
    }

    /// The level of a pause is that of a quiet room: −53 dBFS, a hum of 100 Hz.
    static func hum(at frame: Int) -> Float { 0.0032 * sinf(2 * .pi * 100 * Float(frame) / 48_000) }

    var demuxer: any Demuxer { self }
    var duration: Estimate<Duration>? { Estimate(FrameCount(frameCount).duration(), isExact: true) }
    var position: Estimate<Duration> { Estimate(FrameCount(next).duration(), isExact: true) }
    func nextPacket() -> PacketDescription? { nil }

    func seek(to position: Duration) -> Estimate<Duration> {
        next = FrameCount(position).rawValue
        return self.position
    }

    func read(into samples: inout MutableSpan<Float>) -> FrameCount {
        let count = min(samples.count, frameCount - next)
        for index in 0..<count {
            let frame = next + index
            let isPause = pauses.contains { $0.contains(frame) }
            samples[index] = isPause ? Self.hum(at: frame) : CodedMedia.value(at: frame, rate: 48_000)
        }
        next += count
        return FrameCount(count)
    }
}

struct SilenceSkipperTests {
    private struct Output {
        var samples: [Float] = []
        var skipped = 0
    }

    /// Reads all of `speech`, and checks that the position of each frame outside pauses is right.
    private func read(_ speech: Speech, isActive: (Int) -> Bool = { _ in true }) -> Output {
        var skipper = SilenceSkipper(format: .mono)
        var chunk = FixedBuffer<Float>(repeating: 0, count: 512)
        var output = Output()
        while true {
            let active = isActive(output.samples.count)
            let (count, skipped) = try! skipper.read(into: &chunk, from: speech, isActive: active)
            output.skipped += skipped
            guard count > 0 else { return output }
            let end = FrameCount(skipper.position(in: speech).value).rawValue
            for index in 0..<count where chunk[index] > 0.09 {
                let value = CodedMedia.value(at: end - count + index, rate: 48_000)
                #expect(abs(chunk[index] - value) < 0.0001, "frame \(end - count + index)")
            }
            output.samples += (0..<count).map { chunk[$0] }
        }
    }

    @Test func aLongPauseIsShortenedTo200Milliseconds() {
        let output = read(Speech(seconds: 5, pauses: [1..<3]))
        let quiet = output.samples.count { abs($0) < 0.01 }
        #expect(output.samples.count + output.skipped == 240_000)
        #expect(abs(quiet - 9_600) <= 1_024, "\(quiet)")
        #expect(output.samples.count - quiet == 144_000, "no speech is lost")
    }

    @Test func aShortPauseStays() {
        let output = read(Speech(seconds: 2, pauses: [0.5..<0.95, 1.2..<1.3]))
        #expect(output.samples.count == 96_000 && output.skipped == 0)
    }

    @Test func thePauseAtTheEndAndAtTheStartAreShortened() {
        let output = read(Speech(seconds: 6, pauses: [0..<2, 3..<6]))
        #expect(abs(output.samples.count - (9_600 + 48_000 + 5_760)) <= 2_048, "\(output.samples.count)")
        #expect(output.samples.count + output.skipped == 288_000)
        let silent = read(Speech(seconds: 3, pauses: [0..<3]))
        #expect((1..<7_000).contains(silent.samples.count))
    }

    @Test func whereAPauseIsLeftOutThereIsNoClick() {
        // The hum does not fit where it is joined: 1.5 periods are missing.
        let output = read(Speech(seconds: 4, pauses: [1..<2.765]))
        let quiet = output.samples.filter { abs($0) < 0.05 }
        let step = 0.0032 * 2 * Float.pi * 100 / 48_000
        let steps = zip(quiet, quiet.dropFirst()).map { abs($1 - $0) }
        #expect(quiet.count > 9_000 && steps.max()! < 2 * step, "\(steps.max()!), and the hum's own is \(step)")
    }

    @Test func switchedOffItLeavesNothingOut() {
        #expect(read(Speech(seconds: 3, pauses: [1..<2]), isActive: { _ in false }).samples.count == 144_000)
        // Switched off within a pause, it plays what it holds.
        let half = read(Speech(seconds: 3, pauses: [1..<2.9]), isActive: { $0 < 53_000 })
        #expect(half.samples.count + half.skipped == 144_000)
    }

    /// The position that a block states is that of its samples, also while the time stretcher holds some back.
    @Test(arguments: [1, 1.5, 0.75]) func thePositionIsThatOfTheAudio(rate: Double) throws {
        let ring = RingBuffer(capacity: 64, filler: AudioBlock())
        let controls = RendererControls()
        let wakeup = try WakeupPipe()
        let mailbox = WorkerMailbox(wakeup: wakeup)
        mailbox.parameters.rate = rate
        mailbox.parameters.skipsSilence = true
        var filler = BufferFiller(
            format: .mono, controls, ring.producer, effect: AnyAudioEffect(NoEffect(format: .mono)))
        filler.begin(1)
        filler.beginItem(amplifies: false)
        let speech = Speech(seconds: 8, pauses: [1.5..<3.25, 4.5..<6])
        let consumer = ring.consumer
        var block = AudioBlock()
        var isAtEnd = false
        var checked = 0
        while !isAtEnd {
            isAtEnd = try filler.fill(from: speech, item: 0, mailbox).isAtEnd
            guard consumer.pop(into: &block) else { continue }
            controls.consumed.store(controls.consumed.load(ordering: .relaxed) + block.frameCount, ordering: .relaxed)
            for frame in 0..<block.frameCount where block.samples[frame] > 0.12 && block.samples[frame] < 0.88 {
                let stated = Double(block.position) / 1e9 + Double(frame) * block.rate / 48_000
                // Where the coded second ends, the stretcher mixes its end and the next one's start.
                if abs(stated - stated.rounded()) < 0.07 { continue }
                let heard = try #require(CodedMedia.fraction(of: block.samples[frame]))
                let difference = abs(stated - heard - (stated - heard).rounded())
                #expect(difference < 0.05, "\(stated) s, and \(heard) is heard")
                checked += 1
            }
        }
        #expect(Double(checked) > 48_000 * 2.5 / rate)
        #expect(abs(mailbox.parameters.skippedSilence / .seconds(1) - 2.85) < 0.05)
    }
}
