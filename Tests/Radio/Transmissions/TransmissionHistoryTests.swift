import CAllocations
import TenfourAudioCore
import TenfourOpusCodec
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourTransmissions

@Suite struct TransmissionHistoryTests {
    /// A history, and the clock of those who talk.
    private final class Scene {
        var now = Instant.start + .seconds(1_000)
        private var history: TransmissionHistory

        init(byteCount: Int = 500_000) { history = TransmissionHistory(byteCount: byteCount) }

        var byteCount: Int { history.byteCount }
        var packetCount: Int { history.packetCount }
        var lastTransmission: TransmissionReplay? { history.lastTransmission(at: now) }

        func last(_ time: Duration = .seconds(60)) -> TransmissionReplay? { history.last(time, at: now) }

        func forget() { history.forget(at: now) }

        /// Inserts a packet; then `time` passes.
        func insert(_ payload: [UInt8], _ packet: ReceivedPacket, after time: Duration = .milliseconds(20)) {
            history.insert(payload.span, packet, at: now)
            now = now + time
        }

        /// Lets somebody talk for `time`.
        func talk(
            _ speaker: inout SimulatedSpeaker, for time: Duration, dropping isLost: (Int) -> Bool = { _ in false }
        ) {
            for index in 0..<Int(time / .milliseconds(20)) {
                let sent = speaker.next()
                if isLost(index) { now = now + .milliseconds(20) } else { insert(sent.payload, sent.packet) }
            }
        }

        func pause(_ speaker: inout SimulatedSpeaker, for time: Duration) {
            speaker.skip(time)
            now = now + time
        }
    }

    private var alice = SimulatedSpeaker(0xA11CE)
    private var bob = SimulatedSpeaker(0xB0B)

    private func audio(_ replay: TransmissionReplay) -> [TransmissionReplay.Packet] {
        replay.packets.filter { if case .audio = $0.content { true } else { false } }
    }

    @Test mutating func theLastTransmissionIsThatWhichEndedLast() throws {
        let scene = Scene()
        #expect(scene.lastTransmission == nil)
        scene.talk(&alice, for: .seconds(3))
        // While nothing has ended, what was said so far is all there is.
        #expect(scene.lastTransmission?.packets.count == 150)
        scene.now = scene.now + .seconds(2)
        scene.talk(&bob, for: .milliseconds(500))
        #expect(
            try #require(scene.lastTransmission).packets.allSatisfy { $0.ssrc == SSRC(0xA11CE) })
        scene.now = scene.now + .seconds(1)
        let replay = try #require(scene.lastTransmission)
        #expect(replay.packets.count == 25 && replay.packets.allSatisfy { $0.ssrc == SSRC(0xB0B) })
        #expect(replay.transmissionCount == 1 && replay.duration == .milliseconds(500))
        #expect(replay.packets.map(\.startsTransmission) == [true] + [Bool](repeating: false, count: 24))
    }

    @Test mutating func thePayloadsAreThoseThatArrived() throws {
        let scene = Scene(byteCount: 100_000)
        var payloads: [[UInt8]] = []
        for index in 0..<100 {
            let sent = alice.next([9 << 3] + [UInt8](repeating: UInt8(index), count: 3 + index * 7))
            payloads.append(sent.payload)
            scene.insert(sent.payload, sent.packet)
        }
        let replay = try #require(scene.lastTransmission)
        #expect(replay.packets.map { Array(replay.payload(of: $0)) } == payloads)
    }

    @Test mutating func theLastMinuteIsEverybodyInTheirOrder() throws {
        let scene = Scene()
        scene.talk(&alice, for: .seconds(50))
        scene.pause(&alice, for: .seconds(20))
        // Both talk at once.
        for _ in 0..<100 {
            scene.talk(&bob, for: .milliseconds(20))
            scene.now = scene.now - .milliseconds(20)
            scene.talk(&alice, for: .milliseconds(20))
        }
        let replay = try #require(scene.last())
        // 38 s of the first transmission lie within the minute, and the other two are 2 s each.
        #expect(replay.transmissionCount == 3)
        let talkers = audio(replay).map { $0.ssrc == SSRC(0xA11CE) }
        #expect(talkers == (0..<2_000).map { $0 < 1_900 || $0 >= 2_000 } + [Bool](repeating: true, count: 100))
        #expect(replay.packets.filter { $0.content == .silence }.map(\.frameCount) == [.init(14_400), .init(14_400)])
        #expect(replay.duration == .seconds(38 + 4) + .milliseconds(600))
    }

    @Test mutating func aPauseIsSkippedAndALossIsNot() throws {
        let scene = Scene()
        scene.talk(&alice, for: .seconds(1)) { (20..<25).contains($0) }
        scene.pause(&alice, for: .milliseconds(800))
        scene.talk(&alice, for: .seconds(1))
        scene.now = scene.now + .seconds(1)
        let replay = try #require(scene.lastTransmission)
        let others = replay.packets.filter { if case .audio = $0.content { false } else { true } }
        #expect(others.map(\.content) == [.lost, .silence])
        #expect(others.map(\.frameCount) == [FrameCount(5 * 960), FrameCount(9_600)])
        #expect(audio(replay).count == 95)
    }

    @Test mutating func silenceWithoutSpeechIsNoTransmission() throws {
        let scene = Scene()
        scene.talk(&alice, for: .seconds(1))
        // Packets of one byte, as DTX sends them every 400 ms.
        for _ in 0..<10 {
            let sent = alice.next([9 << 3])
            scene.insert(sent.payload, sent.packet)
            scene.pause(&alice, for: .milliseconds(380))
        }
        scene.talk(&alice, for: .milliseconds(100))
        scene.now = scene.now + .seconds(1)
        #expect(scene.lastTransmission?.packets.count == 5)
        let all = try #require(scene.last())
        #expect(all.transmissionCount == 2 && audio(all).count == 55)
    }

    @Test mutating func whatCameLateIsInItsPlace() throws {
        let scene = Scene(byteCount: 100_000)
        let sent = (0..<10).map { _ in alice.next() }
        for index in [0, 1, 2, 4, 5, 6, 7, 8, 9, 3, 3] {
            var packet = sent[index].packet
            if index == 3 { packet.origin = .retransmitted }
            scene.insert(sent[index].payload, packet)
        }
        let replay = try #require(scene.last())
        #expect(replay.packets.map { Array(replay.payload(of: $0)) } == sent.map(\.payload))
    }

    @Test mutating func whatIsTooOldIsForgotten() {
        let scene = Scene()
        scene.talk(&alice, for: .seconds(1))
        scene.now = scene.now + .seconds(599)
        #expect(scene.lastTransmission != nil)
        scene.now = scene.now + .seconds(2)
        #expect(scene.lastTransmission == nil)
        #expect(scene.packetCount == 50)
        scene.forget()
        #expect(scene.packetCount == 0)
    }

    /// Payloads of all lengths pass the end of the ring in all ways.
    @Test mutating func aFullRingKeepsTheNewest() throws {
        let scene = Scene(byteCount: 5_000)
        var payloads: [[UInt8]] = []
        for index in 0..<20_000 {
            let sent = alice.next([9 << 3] + [UInt8](repeating: UInt8(index % 251), count: 3 + index * 37 % 1_300))
            payloads.append(sent.payload)
            scene.insert(sent.payload, sent.packet)
            let replay = try #require(scene.lastTransmission)
            let count = replay.packets.count
            try #require(count == scene.packetCount && count >= 1)
            try #require(Array(replay.payload(of: replay.packets[count - 1])) == sent.payload)
            guard index % 100 == 0 else { continue }
            #expect(replay.packets.map { Array(replay.payload(of: $0)) } == Array(payloads.suffix(count)))
        }
    }

    /// Eight talkers who take turns for ten minutes, at 32 kbit/s, are all there.
    @Test func tenMinutesOfEightTalkersFit() throws {
        let scene = Scene(byteCount: TransmissionHistory.usualByteCount)
        #expect(scene.byteCount <= 4_000_000)
        var speakers = (1...8).map { SimulatedSpeaker(UInt32($0)) }
        let before = allocations_of_this_thread()
        for second in 0..<600 {
            let said = (0..<50).map { _ in speakers[second / 5 % 8].next() }
            let unrelated = allocations_of_this_thread()
            for sent in said { scene.insert(sent.payload, sent.packet) }
            let after = allocations_of_this_thread()
            // A build in release form allocates once for each call, and a debug build never.
            if after - unrelated > said.count + 1 { Issue.record("insertions allocated \(after - unrelated) times") }
        }
        #expect(allocations_of_this_thread() > before, "the counter counts")
        #expect(scene.packetCount == 30_000)
        let replay = try #require(scene.last(.seconds(600)))
        #expect(replay.packets.count(where: { $0.content != .silence }) == 30_000 && replay.transmissionCount == 120)
    }

    /// Eight talkers who talk at once for ten minutes are too much: the newest fit.
    @Test func moreThanFitsDropsTheOldest() throws {
        let scene = Scene(byteCount: 400_000)
        var speakers = (1...8).map { SimulatedSpeaker(UInt32($0)) }
        for _ in 0..<3_000 {
            for index in speakers.indices {
                let sent = speakers[index].next()
                scene.insert(sent.payload, sent.packet, after: .zero)
            }
            scene.now = scene.now + .milliseconds(20)
        }
        #expect((3_800...3_846).contains(scene.packetCount), "\(scene.packetCount)")
        #expect(scene.last()?.transmissionCount == 8)
    }

    /// From the key to the first decoded audio, with a full history.
    @Test(.inRealTime) func theReplayBeginsAtOnce() throws {
        let scene = Scene(byteCount: TransmissionHistory.usualByteCount)
        var speaker = SimulatedSpeaker(1)
        let tone = try CodedTone.packets(seconds: 1)
        for index in 0..<36_000 {
            let sent = speaker.next(tone[index % 50])
            // The transmissions take 20 s each, with pauses of 2 s.
            scene.insert(sent.payload, sent.packet, after: .milliseconds(index % 1_000 == 999 ? 2_020 : 20))
        }
        for isMinute in [false, true] {
            let key = ContinuousClock.now
            let replay = try #require(isMinute ? scene.last() : scene.lastTransmission)
            var decoder = try OpusDecoder()
            var samples = [Float](repeating: 0, count: 960)
            var span = samples.mutableSpan
            #expect(
                try decoder.decode(Array(replay.payload(of: replay.packets[0])).span, into: &span) == FrameCount(960))
            let time = ContinuousClock.now - key
            print("replay of the last \(isMinute ? "minute" : "transmission") begins after \(time)")
            #expect(time < .milliseconds(100))
        }
    }
}
