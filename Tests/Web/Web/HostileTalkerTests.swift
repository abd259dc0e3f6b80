import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom
import TenfourWeb
import Testing

/// Talkers whose clocks, paths and numbers are not as they should be.
@Suite struct HostileTalkerTests {
    @Test(arguments: [200, -200])
    func thePaceIsThatOfTheClockForADayOfATalkerThatDrifts(partsPerMillion: Int) {
        var timeline = LiveTimeline(at: .start)
        var anna = SimulatedTalker(1, frameCount: FrameCount(5_760), sequenceNumber: 65_000, timestamp: .max - 99_999)
        let interval = Duration.nanoseconds(120 * (1_000_000 + partsPerMillion))
        var (packetCount, heardCount, end) = (0, 0, FrameCount.zero)
        var (isGapless, farthest) = (true, Duration.zero)
        let day = Duration.seconds(86_400)
        var tick = Duration.zero
        while tick < day {
            while interval * packetCount <= tick {
                let packet = anna.next()
                timeline.insert(
                    packet.payload.span, from: packet.ssrc, SequenceNumber(rawValue: packet.sequenceNumber),
                    RTPTimestamp(rawValue: packet.timestamp), marker: packet.marker,
                    at: .start + interval * packetCount)
                packetCount += 1
            }
            timeline.advance(to: .start + tick) { packet in
                isGapless = isGapless && packet.start == end
                end = packet.end
                if packet.content == .audio { heardCount += 1 }
            }
            farthest = max(farthest, timeline.cursor.duration() - tick)
            tick += .milliseconds(100)
        }
        #expect(isGapless)
        #expect(farthest <= .milliseconds(120))
        // A day of 200 ppm is 17.3 s, of which a fast talker's packets are left out: 144 of 720 000.
        #expect(packetCount - heardCount < 400, "\(packetCount - heardCount)")
    }

    @Test func aPathThatBecomesSlowerIsFollowedAndSoIsOneThatBecomesFaster() {
        var scene = Scene()
        var anna = SimulatedTalker(1)
        for index in 0..<1_000 {
            // From the 300th packet on, the path is 250 ms slower; from the 600th on it is as fast as before.
            let delay = 300..<600 ~= index ? Duration.milliseconds(250) : .zero
            let arrival = Instant.start + .milliseconds(20) * index + delay
            scene.run(for: max(arrival - scene.now, .zero))
            scene.insert(anna.next())
        }
        scene.run(for: .milliseconds(600))
        #expect(scene.isGapless)
        #expect(scene.count(.audio) > 970, "\(scene.count(.audio))")
        // Afterwards the delay is the hold again, and not half a second.
        let last = scene.packets.last { $0.content == .audio }
        let delay = (last?.start.duration() ?? .zero) - .milliseconds(20) * 999
        #expect(delay < .milliseconds(260), "\(delay)")
    }

    @Test func aStallCostsOnlyWhatCameTooLate() {
        var scene = Scene()
        var anna = SimulatedTalker(1)
        for index in 0..<300 {
            // 240 ms of packets arrive at once.
            let arrival = 100..<112 ~= index ? 112 : index
            scene.run(for: max(Instant.start + .milliseconds(20) * arrival - scene.now, .zero))
            scene.insert(anna.next())
        }
        scene.run(for: .milliseconds(600))
        #expect(scene.isGapless)
        #expect(scene.count(.audio) >= 294, "\(scene.count(.audio))")
    }

    @Test(arguments: 1...20)
    func anySequenceOfPacketsKeepsThePace(seed: Int) {
        var generator = SeededRandom(seed: UInt64(seed))
        var scene = Scene()
        for _ in 0..<3_000 {
            let configuration = UInt8.random(in: 0...255, using: &generator)
            let isWild = Bool.random(using: &generator)
            var payload = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            if !payload.isEmpty, isWild { payload[0] = configuration & ~3 }
            scene.insert(
                SimulatedTalker.Packet(
                    ssrc: SSRC(.random(in: 1...24, using: &generator)),
                    sequenceNumber: .random(in: 0...(isWild ? .max : 40), using: &generator),
                    timestamp: .random(in: 0...(isWild ? .max : 90_000), using: &generator),
                    marker: .random(using: &generator), payload: payload),
                isOriginal: .random(using: &generator),
                after: .microseconds(Int.random(in: 0...8_000, using: &generator)))
            if Int.random(in: 0..<50, using: &generator) == 0 {
                scene.timeline.leave(SSRC(.random(in: 1...24, using: &generator)))
            }
            #expect(scene.timeline.others.count < 16)
        }
        #expect(scene.isGapless)
        // The scene's own ticks are 20 ms apart.
        #expect(scene.ahead > .milliseconds(-20) && scene.ahead <= .milliseconds(120))
    }

    @Test func aHeldUpCallerSkipsWhatIsTooOld() {
        var timeline = LiveTimeline(at: .start)
        var total = FrameCount.zero
        timeline.advance(to: .start + .seconds(3_600)) { total += $0.frameCount }
        #expect(total <= FrameCount(5_760))
        #expect(timeline.cursor >= FrameCount(3_600 * 48_000))
    }
}
