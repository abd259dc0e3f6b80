import Foundation
import TenfourAudioCore
import TenfourG711Codec
import TenfourOpusCodec
import TenfourSession
import TenfourSystem
import Testing

@testable import TenfourRadio

@Suite struct EncoderPipelineTests {
    @Test func soundBecomesPacketsOfTheFrameThatWasAskedFor() throws {
        for frame in CodingSettings.frames {
            var coding = CodingSettings()
            coding.frame = frame
            let talker = try SimulatedTalker(coding: coding)
            let packets = talker.say(tone(440, seconds: 0.6))
            #expect(packets.count == Int((0.6 / (frame / .seconds(1))).rounded(.down)), "\(frame)")
            #expect(packets.map(\.position.rawValue) == packets.indices.map { $0 * FrameCount(frame).rawValue })
            #expect(packets.map(\.startsTalkspurt) == packets.indices.map { $0 == 0 })
            #expect(packets.allSatisfy { $0.packet.byteCount > 0 })
        }
    }

    /// Audio that a card missed still advances the timestamps, in steps however small, without rounding errors that
    /// add up in an hour.
    @Test(arguments: [8_000, 16_000, 44_100, 96_000, 192_000]) func missedSoundTakesItsTimeAtAnyRate(hertz: Int) throws
    {
        let talker = try SimulatedTalker(format: LPCMFormat(rate: SampleRate(hertz: hertz)))
        for _ in 0..<hertz { _ = talker.skip(1) }
        let packets = talker.say([Float](repeating: 0.1, count: hertz / 10))
        #expect(packets.first?.position == FrameCount(48_000))
    }

    @Test func theEncoderFollowsTheDefence() throws {
        let talker = try SimulatedTalker()
        let sound = speechlike(seconds: 1)
        func kilobits(_ packets: [OutgoingPacket]) -> Double {
            Double(packets.map(\.packet.byteCount).reduce(0, +) * 8) / 1_000
        }
        func copies(_ packets: [OutgoingPacket]) -> Int {
            packets.filter { OpusDecoder.hasInBandFEC($0.packet.payload) }.count
        }
        let before = talker.say(sound)
        #expect(copies(before) == 0)
        talker.talker.apply(EncoderDemand(LossProtection(copies: [1], bitRate: 12_000), CodingSettings()).rawValue)
        let halved = talker.say(sound)
        #expect(kilobits(halved) < kilobits(before) / 2)
        talker.talker.apply(
            EncoderDemand(LossProtection(inBandFEC: true, bitRate: 32_000, expectedLoss: 1), CodingSettings()).rawValue)
        #expect(copies(talker.say(sound)) > 25)
        talker.talker.apply(0)
        talker.talker.apply(EncoderDemand(LossProtection(bitRate: 32_000), CodingSettings()).rawValue)
        let after = talker.say(sound)
        #expect(copies(after.dropFirst(2).map { $0 }) == 0)
        #expect(kilobits(after) > kilobits(halved) * 2)
    }

    @Test func inBandFECThatAPersonTurnedOnStaysOn() {
        var coding = CodingSettings()
        coding.fec = .on
        coding.expectedLoss = 10
        var settings = OpusEncoderSettings()
        EncoderDemand(LossProtection(bitRate: 20_000), coding).apply(to: &settings)
        #expect(settings.inBandFEC && settings.expectedLoss == 10 && settings.bitRate == 20_000)
    }

    /// Returns a signal similar to a voice, so that the speech codec is used.
    private func speechlike(seconds: Double) -> [Float] {
        (0..<Int(seconds * 48_000)).map { index in
            let time = Double(index) / 48_000
            let pitch = 120 + 20 * sin(2 * .pi * 3 * time)
            let talker = (1...12).map { sin(2 * .pi * pitch * Double($0) * time) / Double($0) }.reduce(0, +)
            return Float(0.2 * talker * (0.6 + 0.4 * sin(2 * .pi * 4 * time)))
        }
    }

    @Test func theLastPartialFrameIsPaddedAndSent() throws {
        let talker = try SimulatedTalker()
        #expect(talker.say(tone(440, seconds: 0.05)).count == 2)
        #expect(talker.finish().map(\.position) == [FrameCount(1_920)])
        #expect(talker.finish().isEmpty)
    }

    @Test func aSourceOfAnotherRateIsSentAtFortyEightThousand() throws {
        let format = LPCMFormat(rate: SampleRate(hertz: 44_100))
        let talker = try SimulatedTalker(format: format)
        let packets = talker.say(tone(1_000, seconds: 1, in: format))
        #expect((49...50).contains(packets.count))
        let sound = try decoded(packets)
        #expect(amplitude(of: 1_000, in: sound[9_600...]) > 0.3)
    }

    @Test func aClosedGateSendsNothingAndTimeGoesOn() throws {
        let talker = try SimulatedTalker()
        talker.isOpen = false
        #expect(talker.say(tone(440, seconds: 1)).isEmpty)
        #expect(talker.talker.meanSquare > 0.07, "the level is measured although the gate is closed")
        talker.isOpen = true
        let packets = talker.say(tone(440, seconds: 0.1))
        #expect(packets.map(\.position.rawValue) == (50..<55).map { $0 * 960 })
        #expect(packets.map(\.startsTalkspurt) == [true, false, false, false, false])
        talker.isOpen = false
        // The frame in which the gate closes is faded out.
        #expect(talker.say(tone(440, seconds: 0.1)).map(\.position.rawValue) == [55 * 960])
        talker.isOpen = true
        #expect(talker.say(tone(440, seconds: 0.04)).map(\.startsTalkspurt) == [true, false])
    }

    @Test func aTransmissionBeginsWithTheAudioFromBeforeTheKey() throws {
        var coding = CodingSettings()
        coding.preRoll = .milliseconds(150)
        let talker = try SimulatedTalker(coding: coding)
        talker.isOpen = false
        #expect(talker.say(tone(440, seconds: 0.5) + tone(1_000, seconds: 0.5)).isEmpty)
        talker.isOpen = true
        // They are sent before the frame that is being captured is full.
        let before = talker.say(tone(440, seconds: 0.005))
        #expect(before.map(\.position.rawValue) == (42..<50).map { $0 * 960 })
        #expect(before.map(\.startsTalkspurt) == [true] + Array(repeating: false, count: 7))
        #expect(try amplitude(of: 1_000, in: decoded(before)[960...]) > 0.3)
        let after = talker.say(tone(440, seconds: 0.095))
        #expect(after.map(\.position.rawValue) == (50..<55).map { $0 * 960 })
        #expect(!after.contains(where: { $0.startsTalkspurt }))
        // What was sent is not sent again: only one frame is left from between the two transmissions.
        talker.isOpen = false
        #expect(talker.say(tone(440, seconds: 0.04)).count == 1)
        talker.isOpen = true
        #expect(talker.say(tone(440, seconds: 0.02)).map(\.position.rawValue) == [56 * 960, 57 * 960])
    }

    @Test func audioFromBeforeAGapIsNotSent() throws {
        var coding = CodingSettings()
        coding.preRoll = .milliseconds(150)
        let talker = try SimulatedTalker(coding: coding)
        talker.isOpen = false
        _ = talker.say(tone(440, seconds: 1))
        _ = talker.skip(4_800)
        talker.isOpen = true
        #expect(talker.say(tone(440, seconds: 0.02)).map(\.position.rawValue) == [48_000 + 4_800])
    }

    @Test(arguments: CodingSettings.frames) func thePreRollIsRoundedUpToWholePackets(frame: Duration) throws {
        var coding = CodingSettings()
        coding.frame = frame
        coding.preRoll = .milliseconds(150)
        let talker = try SimulatedTalker(coding: coding)
        talker.isOpen = false
        _ = talker.say(tone(440, seconds: 0.6))
        talker.isOpen = true
        let count = talker.say(tone(440, seconds: 0.001)).count
        #expect(count == Int((0.15 / (frame / .seconds(1))).rounded(.up)))
    }

    @Test func theGateOpensAndClosesWithoutAClick() throws {
        // The tone is at its peak at the start of each frame, where switching it on is worst. By itself it changes by
        // 0.013 a frame at most.
        let peaks = (0..<4_800).map { Float(0.5 * cos(2 * .pi * 200 * Double($0) / 48_000)) }
        var coding = CodingSettings()
        coding.bitRate = 128_000
        coding.content = .music
        let talker = try SimulatedTalker(coding: coding)
        let opening = talker.say(peaks)
        talker.isOpen = false
        let sound = try decoded(opening + talker.say(peaks))
        let steps = zip(sound, sound.dropFirst()).map { abs($1 - $0) }
        // A hard switch would jump by most of 0.5 within a frame or two.
        #expect((steps.max() ?? 1) < 0.06, "\(steps.max() ?? 1)")
        #expect(loudness(of: sound.suffix(240)) < 0.05)
    }

    @Test(arguments: [1, 100, 960, 5_000, 48_000]) func framesThatTheCardMissedAdvanceTheTimestamp(missed: Int) throws {
        let talker = try SimulatedTalker()
        let before = talker.say(tone(440, seconds: 0.05))
        #expect(before.count == 2)
        let padded = talker.skip(missed)
        let after = talker.say(tone(440, seconds: 0.05))
        // 2400 frames come before the gap and as many after it. No packet overlaps another or begins too early.
        let all = before + padded + after
        for (packet, next) in zip(all, all.dropFirst()) {
            #expect(next.position.rawValue >= packet.position.rawValue + 960)
        }
        let end = after.last!.position.rawValue + 960
        #expect(end <= 4_800 + missed && end > 4_800 + missed - 960)
        #expect(after.contains { $0.startsTalkspurt } == (missed > 480), "only a long gap begins a talkspurt")
    }

    @Test func aGapBehindAClosedGateIsNotSent() throws {
        let talker = try SimulatedTalker()
        talker.isOpen = false
        _ = talker.say(tone(440, seconds: 0.05))
        #expect(talker.skip(4_800).isEmpty)
        talker.isOpen = true
        #expect(talker.say(tone(440, seconds: 0.02)).first?.position == FrameCount(2_400 + 4_800))
    }

    /// Whatever the source's rate, each packet has 160 bytes for 20 ms, and its position is a multiple of a tick at
    /// 8000 Hz.
    @Test(arguments: [8_000, 44_100, 48_000], [AudioEncoding.pcmu, .pcma])
    func soundBecomesPacketsOfG711(hertz: Int, encoding: AudioEncoding) throws {
        var coding = CodingSettings()
        coding.encoding = encoding
        let format = LPCMFormat(rate: SampleRate(hertz: hertz))
        let talker = try SimulatedTalker(format: format, coding: coding)
        let packets = talker.say(tone(1_000, seconds: 1, in: format))
        #expect((49...50).contains(packets.count))
        #expect(packets.allSatisfy { $0.packet.byteCount == 160 })
        #expect(packets.map(\.position.rawValue) == packets.indices.map { $0 * 960 })
        #expect(packets.map(\.startsTalkspurt) == packets.indices.map { $0 == 0 })
        let law: G711Law = encoding == .pcmu ? .mu : .a
        let narrow = packets.flatMap { packet in
            packet.packet.payload.indices.map { Float(law.decode(packet.packet.payload[$0])) / 32_768 }
        }
        let heard = narrow.flatMap { [$0, $0, $0, $0, $0, $0] }
        #expect(abs(amplitude(of: 1_000, in: heard[9_600...]) - 0.4) < 0.02)
    }

    @Test(arguments: CodingSettings.frames) func packetsOfG711AreAsLongAsWasAskedFor(frame: Duration) throws {
        var coding = CodingSettings()
        coding.encoding = .pcma
        coding.frame = frame
        let packets = try SimulatedTalker(coding: coding).say(tone(440, seconds: 0.6))
        let byteCount = FrameCount(frame, at: SampleRate(hertz: 8_000)).rawValue
        #expect(packets.allSatisfy { $0.packet.byteCount == byteCount })
        #expect(packets.map(\.position.rawValue) == packets.indices.map { $0 * byteCount * 6 })
    }

    /// Missed frames at 48 000 Hz are rounded to whole ticks of 8000 Hz, without errors that add up.
    @Test func missedSoundTakesItsTimeInG711() throws {
        var coding = CodingSettings()
        coding.encoding = .pcmu
        let talker = try SimulatedTalker(coding: coding)
        for _ in 0..<48_001 { _ = talker.skip(1) }
        let packets = talker.say([Float](repeating: 0.1, count: 4_800))
        #expect(packets.first?.position == FrameCount(48_000))
        #expect(packets.allSatisfy { $0.position.rawValue % 6 == 0 })
    }

    /// The bit rate that loss protection requests has no effect on G.711.
    @Test func g711HasNoSettings() throws {
        var coding = CodingSettings()
        coding.encoding = .pcmu
        let talker = try SimulatedTalker(coding: coding)
        talker.talker.apply(EncoderDemand(LossProtection(bitRate: 12_000), coding).rawValue)
        #expect(talker.say(tone(440, seconds: 0.1)).allSatisfy { $0.packet.byteCount == 160 })
    }

    @Test func packetsThatNobodyTakesAreCounted() throws {
        var talker = try EncoderPipeline(format: .mono, coding: CodingSettings())
        let ring = RingBuffer<OutgoingPacket>(capacity: 4, filler: OutgoingPacket())
        let silence = FixedBuffer<Float>(repeating: 0, count: 9_600)
        _ = talker.take(silence, frameCount: FrameCount(9_600), isOpen: true, into: ring.producer)
        #expect(talker.overrunCount == 6)
    }

    private func decoded(_ packets: [OutgoingPacket]) throws -> [Float] {
        var decoder = try OpusDecoder(channelCount: 1)
        var sound: [Float] = []
        for packet in packets {
            var samples = [Float](repeating: 0, count: 5_760)
            var span = samples.mutableSpan
            let frames = try decoder.decode(packet.packet.payload, into: &span)
            sound += samples[..<frames.rawValue]
        }
        return sound
    }
}
