import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom
import TenfourWeb
import Testing

@Suite struct LiveTimelineTests {
    @Test(arguments: [120, 240, 480, 960, 1_920, 2_880, 5_760])
    func payloadsPassUnalteredAndWithoutGap(frameCount: Int) {
        var scene = Scene()
        var anna = SimulatedTalker(1, frameCount: FrameCount(frameCount), sequenceNumber: 65_530, timestamp: .max - 700)
        let sent = (0..<40).map { _ in anna.next() }
        for packet in sent { scene.insert(packet, after: FrameCount(frameCount).duration()) }
        scene.run(for: .milliseconds(400))
        #expect(scene.audio == sent.map(\.payload))
        #expect(scene.count(.concealment) == 0)
        #expect(scene.isGapless)
    }

    @Test func thePaceIsThatOfTheClock() {
        var scene = Scene()
        scene.run(for: .seconds(60))
        #expect(scene.ahead >= .zero && scene.ahead <= .milliseconds(60))
        #expect(scene.packets.allSatisfy { $0.content == .silence })
        // Most packets of a long silence are long.
        #expect(scene.packets.count <= 60 * 17)
    }

    @Test func aPacketIsHeardTwoHundredMillisecondsAfterItsArrival() throws {
        var scene = Scene()
        var anna = SimulatedTalker(1)
        scene.run(for: .milliseconds(1_003))
        scene.insert(anna.next())
        scene.run(for: .milliseconds(400))
        let first = try #require(scene.packets.first { $0.content == .audio })
        let time = first.start.duration()
        #expect(time >= .milliseconds(1_203) && time < .milliseconds(1_206))
        #expect(scene.isGapless)
    }

    @Test func lateDoubledAndReorderedPacketsAreInTheirPlaces() {
        var scene = Scene()
        var anna = SimulatedTalker(1)
        let sent = (0..<50).map { _ in anna.next() }
        for (index, packet) in sent.enumerated() {
            // Every fifth packet is lost, and retransmitted 160 ms later; every seventh arrives twice.
            if index % 5 != 0 || index == 0 { scene.insert(packet) }
            if index % 7 == 0 { scene.insert(sent[max(index - 2, 0)]) }
            if index >= 8, (index - 8) % 5 == 0 { scene.insert(sent[index - 8], isOriginal: false) }
            scene.run(for: .milliseconds(20))
        }
        for index in [45] { scene.insert(sent[index], isOriginal: false) }
        scene.run(for: .milliseconds(400))
        #expect(scene.audio == sent.map(\.payload))
        #expect(scene.count(.concealment) == 0)
    }

    @Test func whatIsMissingIsConcealedAndLongLossIsSilence() {
        var scene = Scene()
        var anna = SimulatedTalker(1)
        let sent = (0..<60).map { _ in anna.next() }
        for (index, packet) in sent.enumerated() {
            if index != 10 && !(20..<28).contains(index) { scene.insert(packet) }
            scene.run(for: .milliseconds(20))
        }
        scene.run(for: .milliseconds(200))
        let audio = sent.enumerated().filter { $0.offset != 10 && !(20..<28).contains($0.offset) }
        #expect(scene.audio == audio.map(\.element.payload))
        let places = scene.packets.drop { $0.content != .audio }.prefix(60)
        #expect(places.dropFirst(10).first?.content == .concealment)
        #expect(places.dropFirst(10).first?.payload == [sent[9].payload[0] & ~3])
        // Of the loss of 160 ms, 120 ms are concealed.
        #expect(
            places.dropFirst(20).prefix(9).map(\.content)
                == Array(repeating: .concealment, count: 6) + [.silence, .silence, .audio])
        #expect(scene.isGapless)
    }

    @Test func theFirstTalkerIsHeardToTheEndAndThenTheNext() {
        var scene = Scene()
        var (anna, ben) = (SimulatedTalker(1), SimulatedTalker(2))
        var (annas, bens): ([[UInt8]], [[UInt8]]) = ([], [])
        for index in 0..<150 {
            if index < 100 { annas.append(scene.insert(anna.next())) }
            if index >= 50 { bens.append(scene.insert(ben.next())) }
            scene.run(for: .milliseconds(20))
            #expect(scene.timeline.talk?.ssrc == SSRC(index < 113 ? 1 : 2))
            #expect(scene.timeline.others == (50..<113 ~= index ? [SSRC(2)] : []))
        }
        scene.run(for: .milliseconds(600))
        #expect(scene.timeline.talk == nil)
        let heard = scene.audio
        #expect(Array(heard.prefix(100)) == annas)
        // Ben is heard from about 300 ms after Anna's last packet on.
        let rest = Array(heard.dropFirst(100))
        #expect(rest == Array(bens.suffix(rest.count)) && (40...47).contains(rest.count), "\(rest.count)")
        #expect(scene.isGapless)
    }

    @Test func anAnswerIsHeardFromItsBeginning() {
        var scene = Scene()
        var (anna, ben) = (SimulatedTalker(1), SimulatedTalker(2))
        var sent: [[UInt8]] = []
        for index in 0..<60 {
            if index < 30 { sent.append(scene.insert(anna.next())) }
            // 120 ms after Anna's last packet.
            if index >= 35 { sent.append(scene.insert(ben.next())) }
            scene.run(for: .milliseconds(20))
        }
        scene.run(for: .milliseconds(600))
        #expect(scene.audio == sent)
    }

    @Test func aGoodbyeEndsATalkspurtAfterItsLastPacket() {
        var scene = Scene()
        var anna = SimulatedTalker(1)
        let sent = (0..<5).map { _ in scene.insert(anna.next(), after: .milliseconds(20)) }
        scene.timeline.leave(SSRC(1))
        scene.run(for: .milliseconds(250))
        #expect(scene.audio == sent)
        #expect(scene.timeline.talk == nil)
    }

    @Test func afterASilenceTheDelayIsThatOfTheNewTalkspurt() {
        var scene = Scene()
        var anna = SimulatedTalker(1)
        for _ in 0..<10 { scene.insert(anna.next(), after: .milliseconds(20)) }
        // The talker's timestamps run on in silence; the new talkspurt arrives 90 ms later than the first.
        anna.skip(FrameCount(48_000))
        scene.run(for: .milliseconds(1_090))
        let start = scene.now
        var packet = anna.next()
        packet.marker = true
        scene.insert(packet)
        scene.run(for: .milliseconds(500))
        let last = scene.packets.last { $0.content == .audio }
        #expect(last.map { $0.start.duration() - (start - .start) >= .milliseconds(200) } ?? false)
        #expect(scene.audio.count == 11)
    }

    @Test func aTalkerThatSendsPacketsWithoutAudioIsNotConcealed() {
        var scene = Scene()
        var anna = SimulatedTalker(1)
        for index in 0..<80 {
            var packet = anna.next()
            // Silence that was not sent: one packet in 400 ms, of one byte.
            if index >= 20, index % 20 != 0 {
                scene.run(for: .milliseconds(20))
                anna.sequenceNumber &-= 1
                continue
            }
            if index >= 20 { packet.payload = [packet.payload[0]] }
            scene.insert(packet, after: .milliseconds(20))
        }
        scene.run(for: .milliseconds(500))
        #expect(scene.audio.count == 23)
        #expect(scene.isGapless)
    }
}
