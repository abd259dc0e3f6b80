import Foundation
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourNetworkEmulator
import TenfourOpusCodec
import TenfourPackets
import TenfourSeededRandom
import Testing

@testable import TenfourRadio

@Suite struct MixerTests {
    @Test func aToneGoesThroughPacketsAndSoundsAgain() throws {
        let room = try room(saying: [440])
        room.run(seconds: 3)
        let heard = room.heard(from: 1, to: 2.9)
        #expect(abs(amplitude(of: 440, in: heard) - 0.4) < 0.04)
        #expect(longestGap(in: heard) < 10)
        let playout = try #require(room.report(of: 1)?.playout)
        #expect(playout.concealed == .zero && playout.late == 0 && playout.resyncs == 0)
    }

    @Test func aCleanLinkIsPlayedOneMarginBehindArrival() throws {
        let room = try room(saying: [440])
        room.run(seconds: 3)
        // A pull of 5 ms, 1.5 ms for the late wake-up of a thread, and one bucket of the delay estimate.
        let delay = try #require(room.report(of: 1)?.playout.delay)
        #expect(delay.rawValue <= 312 + 12 + 240 && delay.rawValue >= 240, "\(delay)")
        // The first packet arrives after 21 ms and waits for the playout delay; the Opus look-ahead (6.5 ms) and the
        // gate's ramp add to it.
        let first = try #require(room.heard.firstIndex { abs($0) > 0.01 })
        #expect((1_000...2_400).contains(first), "\(first)")
    }

    /// Packets of 2.5 ms that come for 2.9 s fill the ring buffer before the card begins to play.
    @Test(arguments: [2_500, 20_000]) func aCardThatBeginsLatePlaysTheNewestPackets(frame: Int) throws {
        let room = try SimulatedRoom()
        var coding = CodingSettings()
        coding.frame = .microseconds(frame)
        try add(1, saying: 440, seconds: 6, to: room, coding: coding)
        room.wait(seconds: 2.9)
        room.run(seconds: 2)
        let playout = try #require(room.report(of: 1)?.playout)
        #expect(playout.concealed == .zero && playout.late == 0 && playout.dropped == .zero, "\(playout)")
        #expect(playout.delay <= FrameCount(3_840) && playout.due > FrameCount(94_000), "\(playout.delay)")
        #expect(longestGap(in: room.heard(from: 0.1, to: 1.9)) < 10)
    }

    @Test func jitterDeepensTheBufferAndLittleIsLost() throws {
        let room = try room(saying: [440], seconds: 12)
        var chance = SeededRandom(seed: 7)
        room.delay = { _ in .microseconds(Int.random(in: 1_000...41_000, using: &chance)) }
        room.run(seconds: 12)
        let playout = try #require(room.report(of: 1)?.playout)
        #expect(playout.delay.rawValue > 1_440, "more than 30 of the 40 ms")
        let before = playout.decoded
        #expect(before.rawValue > 11 * 48_000)
        #expect(playout.late <= 6, "one in a hundred while the jitter is not known yet, then three in a thousand")
        #expect(longestGap(in: room.heard(from: 4, to: 11.9)) < 240)
    }

    /// During an outage no audio of the talker is requested, but all of it counts as concealed; a pause of the talker
    /// does not.
    @Test func anOutageCountsAsNotHeardAndAPauseDoesNot() throws {
        let room = try room(saying: [440], seconds: 8)
        room.delay = { (100..<250).contains($0) ? nil : .milliseconds(1) }
        room.run(seconds: 6)
        let outage = try #require(room.report(of: 1)?.playout)
        #expect(abs(outage.concealed.duration() / .seconds(1) - 3) < 0.05, "\(outage.concealed)")

        let pausing = try self.room(saying: [440], seconds: 8)
        pausing.run(seconds: 2)
        pausing.talkers[0].isOpen = false
        pausing.run(seconds: 3)
        pausing.talkers[0].isOpen = true
        pausing.run(seconds: 1)
        let pause = try #require(pausing.report(of: 1)?.playout)
        #expect(pause.concealed < FrameCount(960), "\(pause.concealed)")
    }

    /// Packets that a stall of two seconds delays and then delivers together count as not heard at the time they were
    /// due.
    @Test func aStallCountsAsNotHeard() throws {
        let room = try room(saying: [440], seconds: 8)
        room.delay = { (100..<200).contains($0) ? .milliseconds(20 * (200 - $0)) : .milliseconds(1) }
        room.run(seconds: 6)
        let stall = try #require(room.report(of: 1)?.playout)
        #expect(abs(stall.concealed.duration() / .seconds(1) - 2) < 0.2, "\(stall.concealed)")
    }

    @Test func twoTalkersAreMixed() throws {
        let room = try room(saying: [440, 1_000])
        room.run(seconds: 2)
        let heard = room.heard(from: 1, to: 1.9)
        // A model that enhances speech may change the level of a tone by an eighth.
        #expect(abs(amplitude(of: 440, in: heard) - 0.4) < 0.08)
        #expect(abs(amplitude(of: 1_000, in: heard) - 0.4) < 0.08)
        #expect(amplitude(of: 700, in: heard) < 0.01)
    }

    @Test func theNinthTalkerIsCrowdedOutUntilOneLeaves() throws {
        let room = try room(saying: (0..<9).map { 400 + 150 * Double($0) }, seconds: 6, loudness: 0.1)
        room.run(seconds: 2)
        #expect(room.pipeline.report.mixer.crowdedOutCount >= 95, "all packets of the ninth talker")
        #expect(room.report(of: 9) == nil)
        let before = room.pipeline.report.mixer.crowdedOutCount
        room.sounds[SSRC(3)] = []
        room.leave(SSRC(3))
        room.run(seconds: 2)
        #expect(room.report(of: 3) == nil)
        #expect(room.report(of: 9) != nil)
        #expect(
            room.pipeline.report.mixer.crowdedOutCount <= before + 20,
            "none after the concealment of what was left has ended")
        let heard = room.heard(from: 3, to: 3.9)
        #expect(amplitude(of: 1_600, in: heard) > 0.07)
        #expect(amplitude(of: 700, in: heard) < 0.01)
    }

    /// Eight talkers of whom only one packet comes, as somebody may invent them.
    @Test func aTalkerWhoGoesOnGetsTheSlotOfOneWhoDoesNot() throws {
        let room = try room(saying: (0..<8).map { 400 + 150 * Double($0) }, seconds: 0.02, loudness: 0.1)
        room.run(seconds: 0.05)
        try add(9, saying: 1_600, seconds: 2, loudness: 0.1, to: room)
        room.run(seconds: 2)
        #expect(room.report(of: 9) != nil)
        #expect(room.pipeline.report.mixer.crowdedOutCount <= 8)
    }

    @Test func aSilentTalkerKeepsItsSlot() throws {
        let room = try room(saying: [440], seconds: 1)
        room.run(seconds: 2)
        let before = try #require(room.report(of: 1))
        #expect(!before.isHeard)
        try add(2, saying: 1_000, to: room)
        room.run(seconds: 1)
        #expect(room.report(of: 1)?.playout.decoded == before.playout.decoded)
        #expect(room.report(of: 2)?.isHeard == true)
    }

    @Test func aLostPacketIsConcealedInItsPlace() throws {
        let room = try room(saying: [440], seconds: 5)
        room.delay = { $0 % 25 == 12 ? nil : .milliseconds(1) }
        room.run(seconds: 5)
        let playout = try #require(room.report(of: 1)?.playout)
        #expect((8...11).contains(playout.concealed.rawValue / 960), "\(playout.concealed)")
        #expect(longestGap(in: room.heard(from: 1, to: 4.9)) < 200, "a steady tone goes on through the losses")
        // The playout rate is corrected slightly meanwhile, so the amplitude at exactly 440 Hz is that of a short time.
        for second in 1...4 {
            let start = Double(second)
            #expect(amplitude(of: 440, in: room.heard(from: start, to: start + 0.9)) > 0.34, "from \(second) s on")
        }
    }

    @Test func theCopyInTheNextPacketBringsALostOneBack() throws {
        var coding = CodingSettings()
        coding.expectedLoss = 20
        coding.fec = .on
        let room = try SimulatedRoom()
        try add(1, saying: 0, to: room, coding: coding)
        // FEC is used for speech, so the signal resembles it: a tone whose level rises and falls.
        room.sounds[SSRC(1)] = tone(200, seconds: 10).enumerated().map {
            $1 * Float(sin(2 * .pi * 3 * Double($0) / 48_000))
        }
        room.delay = { $0 % 10 == 5 ? nil : .milliseconds(1) }
        room.run(seconds: 10)
        let playout = try #require(room.report(of: 1)?.playout)
        #expect(playout.recovered.rawValue > 30 * 960, "of some fifty: \(playout.recovered.rawValue / 960)")
        #expect(playout.concealed.rawValue < 15 * 960)
    }

    @Test func aPausedTalkerIsSilentAndComesBackWithTheSameDelay() throws {
        let room = try room(saying: [440], seconds: 1)
        room.run(seconds: 1)
        let delay = try #require(room.report(of: 1)?.playout.delay)
        room.talkers[0].isOpen = false
        room.sounds[SSRC(1)] = tone(440, seconds: 4)
        room.run(seconds: 1)
        #expect(loudness(of: room.heard(from: 1.3, to: 2)) < 0.001, "concealment after the end fades out")
        room.talkers[0].isOpen = true
        room.run(seconds: 1)
        #expect(amplitude(of: 440, in: room.heard(from: 2.2, to: 3)) > 0.36)
        let after = try #require(room.report(of: 1)?.playout)
        #expect(abs(after.delay.rawValue - delay.rawValue) < 48)
        #expect(after.concealed == .zero)
    }

    @Test func aCardThatStoodStillSkipsWhatIsOverAndKeepsTheDelay() throws {
        let room = try room(saying: [440], seconds: 4)
        room.run(seconds: 2)
        let before = try #require(room.report(of: 1)?.playout.delay)
        room.stall(.milliseconds(300))
        room.run(seconds: 1.5)
        let after = try #require(room.report(of: 1)?.playout)
        #expect(abs(after.delay.rawValue - before.rawValue) < 96, "\(before) and then \(after.delay)")
        #expect(after.resyncs == 0)
        #expect(amplitude(of: 440, in: room.heard(from: 2.2, to: 3.4)) > 0.36)
    }

    @Test func aShortUnderrunAddsNoDelay() throws {
        let room = try room(saying: [440], seconds: 5)
        room.run(seconds: 2)
        let before = try #require(room.report(of: 1)?.playout)
        for _ in 0..<3 {
            room.stall(.milliseconds(20))
            room.pipeline.mixer.skip(FrameCount(960), missed: FrameCount(960))
            room.run(seconds: 0.5)
        }
        let after = try #require(room.report(of: 1)?.playout)
        #expect(abs(after.delay.rawValue - before.delay.rawValue) < 48, "\(before.delay) and then \(after.delay)")
        #expect(abs(after.target.rawValue - before.target.rawValue) < 48, "\(before.target) and then \(after.target)")
        #expect(amplitude(of: 440, in: room.heard(from: 3, to: 3.4)) > 0.36)
        #expect(after.missing - before.missing == FrameCount(3 * 960) && after.holes - before.holes == 3)
    }

    /// A gap between two demands of the card counts as missing audio, even if the card reports no xrun.
    @Test func aHoleBetweenDemandsIsMissingSound() throws {
        let room = try room(saying: [440], seconds: 5)
        room.run(seconds: 2)
        room.stall(.milliseconds(300))
        room.run(seconds: 1)
        let playout = try #require(room.report(of: 1)?.playout)
        #expect(abs(playout.missing.rawValue - 14_400) < 240 && playout.holes == 1, "\(playout)")
        #expect(playout.late == 0, "packets received during the gap are not late")
    }

    @Test func framesGivenToALostCardCountAsMissing() throws {
        let room = try room(saying: [440], seconds: 5)
        room.run(seconds: 2)
        let before = try #require(room.report(of: 1)?.playout)
        for _ in 0..<100 {
            room.run(seconds: 0.005)
            room.pipeline.mixer.recordUnplayed(FrameCount(240))
        }
        room.run(seconds: 0.005)
        room.pipeline.mixer.recordUnplayed(.zero)
        let after = try #require(room.report(of: 1)?.playout)
        #expect(after.missing - before.missing == FrameCount(24_000) && after.holes - before.holes == 1)
        #expect(abs((after.due - before.due).rawValue - 24_240) < 1_920, "each frame is due once")
    }

    @Test func aTalkerWhoseCardMissedSoundKeepsTheDelay() throws {
        let room = try room(saying: [440], seconds: 6)
        room.run(seconds: 2)
        let before = try #require(room.report(of: 1)?.playout.delay)
        // The talker's card captures nothing for 400 ms and reports it.
        room.sounds[SSRC(1)] = []
        room.run(seconds: 0.4)
        for packet in room.talkers[0].skip(19_200) { room.arrive(room.talkers[0].sent(packet, arrivingAt: room.now)) }
        room.sounds[SSRC(1)] = tone(440, seconds: 3)
        room.run(seconds: 2)
        let after = try #require(room.report(of: 1)?.playout)
        #expect(abs(after.delay.rawValue - before.rawValue) < 96, "\(before) and then \(after.delay)")
        #expect(after.resyncs == 0 && after.late == 0)
        #expect(amplitude(of: 440, in: room.heard(from: 2.7, to: 4)) > 0.36)
    }

    @Test func aCardOfAnotherRateHearsTheSamePitch() throws {
        let format = LPCMFormat(rate: SampleRate(hertz: 44_100))
        let room = try SimulatedRoom(format: format)
        try add(1, saying: 1_000, to: room)
        room.run(seconds: 3)
        let heard = room.heard(from: 1, to: 2.9)
        #expect(amplitude(of: 1_000, in: heard, rate: 44_100) > 0.36)
        #expect(longestGap(in: heard) < 10)
        #expect(room.report(of: 1)?.playout.concealed == .zero)
    }

    /// Frames of the card are not frames at 48 000 Hz. If the two are confused, the delay is wrong by up to a period
    /// and the audio is time-scaled all the time.
    @Test(arguments: [8_000, 16_000, 44_100, 96_000, 192_000]) func aCardOfAnyRateHearsAsSoonAndAsEvenly(hertz: Int)
        throws
    {
        func playout(_ hertz: Int) throws -> (PlayoutStatistics, heard: [Float]) {
            let room = try SimulatedRoom(format: LPCMFormat(rate: SampleRate(hertz: hertz)))
            // With frames of 2.5 ms, packets end at different points of the card's period.
            var coding = CodingSettings()
            coding.frame = .microseconds(2_500)
            try add(1, saying: 440, to: room, coding: coding)
            room.run(seconds: 3)
            return (try #require(room.report(of: 1)?.playout), room.heard(from: 1, to: 2.9))
        }
        let (usual, _) = try playout(48_000)
        let (here, heard) = try playout(hertz)
        #expect(abs(here.delay.rawValue - usual.delay.rawValue) <= 24, "\(here.delay), \(usual.delay)")
        #expect(here.timeScaled == usual.timeScaled && here.concealed == .zero && here.late == 0)
        #expect(amplitude(of: 440, in: heard, rate: hertz) > 0.36)
    }

    /// Half a second that a card did not play has the same length at any rate.
    @Test(arguments: [16_000, 48_000, 96_000, 192_000]) func aHoleOfAnyCardAddsNoDelay(hertz: Int) throws {
        let room = try SimulatedRoom(format: LPCMFormat(rate: SampleRate(hertz: hertz)))
        try add(1, saying: 440, to: room)
        room.sounds[SSRC(1)] = tone(440, seconds: 5)
        room.run(seconds: 2)
        let before = try #require(room.report(of: 1)?.playout)
        for _ in 0..<3 {
            room.stall(.milliseconds(20))
            room.pipeline.mixer.skip(FrameCount(hertz / 50), missed: FrameCount(hertz / 50))
            room.run(seconds: 0.5)
        }
        let after = try #require(room.report(of: 1)?.playout)
        #expect(abs(after.delay.rawValue - before.delay.rawValue) < 48, "\(before.delay) and then \(after.delay)")
    }

    @Test func stereoKeepsItsSides() throws {
        var coding = CodingSettings()
        var playout = PlayoutSettings()
        Profile.music.apply(to: &coding, &playout)
        let room = try SimulatedRoom(format: .stereo)
        let talker = try SimulatedTalker(format: .stereo, coding: coding)
        room.talkers.append(talker)
        room.sounds[talker.ssrc] = tone(1_000, seconds: 3, in: .stereo)
        room.run(seconds: 3)
        let heard = room.heard(from: 1, to: 2.9)
        let (left, right) = (channel(0, of: heard, in: .stereo), channel(1, of: heard, in: .stereo))
        #expect(amplitude(of: 1_000, in: left) > 0.36 && amplitude(of: 1_100, in: left) < 0.05)
        #expect(amplitude(of: 1_100, in: right) > 0.36 && amplitude(of: 1_000, in: right) < 0.05)
    }

    @Test(arguments: [-300.0, 300.0]) func clocksThatRunApartAreBroughtTogether(drift: Double) throws {
        let room = try room(saying: [440], seconds: 42)
        room.drift = drift
        room.run(seconds: 40)
        let playout = try #require(room.report(of: 1)?.playout)
        #expect(playout.concealed == .zero && playout.late == 0)
        #expect(playout.delay.rawValue < 1_200, "\(playout.delay)")
        #expect(longestGap(in: room.heard(from: 1, to: 39.9)) < 10)
    }

    @Test func noPayloadTraps() throws {
        let room = try SimulatedRoom()
        var chance = SeededRandom(seed: 1)
        for number in 0..<100_000 {
            var packet = IncomingPacket()
            packet.ssrc = SSRC(UInt32.random(in: 1...12, using: &chance))
            packet.info.sequenceNumber = SequenceNumber(rawValue: UInt16(truncatingIfNeeded: number / 8))
            packet.info.timestamp = RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: number / 8 * 960))
            if number % 97 == 0 {
                packet.info.timestamp = RTPTimestamp(rawValue: .random(in: 0 ... .max, using: &chance))
            }
            packet.info.frameCount = FrameCount(
                [120, 240, 480, 960, 1_920, 2_880, 5_760].randomElement(using: &chance)!)
            packet.packet.byteCount = Int.random(in: 0...60, using: &chance)
            for index in 0..<packet.packet.byteCount {
                packet.packet.bytes[index] = .random(in: 0 ... .max, using: &chance)
            }
            packet.info.carriesFEC = number % 3 == 0
            packet.news = number % 499 == 0 ? .goodbye : nil
            packet.arrival = room.now
            room.arrive(packet)
            if number % 40 == 0 { room.run(seconds: 0.02) }
        }
        #expect(room.heard.allSatisfy { $0.isFinite })
        // A talker with valid packets is heard afterwards.
        room.run(seconds: 1)
        let end = Double(room.heard.count) / 48_000
        for ssrc in 1...12 { room.leave(SSRC(UInt32(ssrc))) }
        try add(77, saying: 440, to: room)
        room.run(seconds: 2)
        #expect(amplitude(of: 440, in: room.heard(from: end + 1, to: end + 1.9)) > 0.3)
    }

    private func room(saying pitches: [Double], seconds: Double = 4, loudness: Double = 0.4) throws -> SimulatedRoom {
        let room = try SimulatedRoom()
        for (index, pitch) in pitches.enumerated() {
            try add(UInt32(index + 1), saying: pitch, seconds: seconds, loudness: loudness, to: room)
        }
        return room
    }

    private func add(
        _ ssrc: UInt32, saying pitch: Double, seconds: Double = 4, loudness: Double = 0.4, to room: SimulatedRoom,
        coding: CodingSettings = CodingSettings()
    ) throws {
        let talker = try SimulatedTalker(ssrc: ssrc, coding: coding)
        room.talkers.append(talker)
        room.sounds[talker.ssrc] = tone(pitch, seconds: seconds, loudness: loudness)
    }
}
