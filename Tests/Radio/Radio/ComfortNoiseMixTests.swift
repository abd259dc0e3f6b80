import Foundation
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import Testing

@testable import TenfourRadio

/// The noise in the pauses of several talkers (RFC 3389), and on cards of other rates.
struct ComfortNoiseMixTests {
    /// Lets a talker send half a second of silence in PCMU, and then a description of noise of this level, if any.
    private func pause(_ ssrc: UInt32, at decibels: UInt8? = 40, in room: SimulatedRoom) {
        let ssrc = SSRC(ssrc)
        for number in 0..<25 {
            var packet = IncomingPacket()
            packet.ssrc = ssrc
            packet.info = PacketInfo(
                sequenceNumber: SequenceNumber(rawValue: UInt16(number)),
                timestamp: RTPTimestamp(rawValue: UInt32(960 * number)), frameCount: FrameCount(960), encoding: .pcmu)
            packet.packet.fill([UInt8](repeating: 0xFF, count: 160).span)
            packet.arrival = room.now + .milliseconds(20 * number)
            room.arrive(packet)
        }
        guard let decibels, let noise = ComfortNoise(parsing: [decibels].span) else { return }
        var description = IncomingPacket()
        description.set(.comfortNoise(noise, after: SequenceNumber(rawValue: 24)), of: ssrc)
        description.arrival = room.now + .milliseconds(500)
        room.arrive(description)
    }

    /// Returns the RMS value of the last `seconds`.
    private func level(ofLast seconds: Double, in room: SimulatedRoom) -> Double {
        let end = Double(room.heard.count) / Double(room.format.rate.hertz)
        return loudness(of: room.heard(from: end - seconds))
    }

    @Test func theNinthTalkerTakesThePlaceOfNoise() throws {
        let room = try SimulatedRoom()
        for ssrc in 1...8 as ClosedRange<UInt32> { pause(ssrc, in: room) }
        room.run(seconds: 1.8)
        let eight = level(ofLast: 1, in: room)
        #expect(abs(eight / (0.01 * 8.0.squareRoot()) - 1) < 0.06, "\(eight)")
        pause(9, at: nil, in: room)
        room.run(seconds: 1.8)
        #expect(room.report(of: 9)?.playout.decoded == FrameCount(25 * 960))
        #expect(room.pipeline.report.mixer.crowdedOutCount == 0)
        #expect((1...8).count { room.report(of: $0) == nil } == 1)
        let change = level(ofLast: 1, in: room) / eight
        #expect((0.9...0.975).contains(change), "\(change)")
    }

    @Test func theNinthTalkerTakesThePlaceOfSilenceFirst() throws {
        let room = try SimulatedRoom()
        for ssrc in 1...8 as ClosedRange<UInt32> { pause(ssrc, at: ssrc == 5 ? nil : 40, in: room) }
        room.run(seconds: 1.8)
        pause(9, in: room)
        room.run(seconds: 1.8)
        #expect((1...9).filter { room.report(of: $0) == nil } == [5])
        let noise = level(ofLast: 1, in: room)
        #expect(abs(noise / (0.01 * 8.0.squareRoot()) - 1) < 0.06, "\(noise)")
    }

    @Test(arguments: [0, 0.25, 2] as [Float]) func theVolumeOfATalkerAppliesToTheNoise(volume: Float) throws {
        let room = try SimulatedRoom()
        pause(1, in: room)
        pause(2, at: nil, in: room)
        room.run(seconds: 1.8)
        let before = level(ofLast: 1, in: room)
        room.pipeline.mixer.setVolume(volume, of: SSRC(1))
        room.pipeline.mixer.setVolume(1 - volume / 2, of: SSRC(2))
        room.run(seconds: 1.2)
        let after = level(ofLast: 1, in: room)
        #expect(abs(before / 0.01 - 1) < 0.06 && abs(after / 0.01 - Double(volume)) < 0.06 * Double(volume) + 1e-9)
    }

    @Test(arguments: [8_000, 16_000, 44_100, 96_000]) func aCardOfAnyRateHasTheNoise(hertz: Int) throws {
        let room = try SimulatedRoom(format: LPCMFormat(rate: SampleRate(hertz: hertz)))
        pause(1, in: room)
        room.run(seconds: 3)
        func decibels(from begin: Double, to end: Double) -> Double {
            20 * log10(loudness(of: room.heard(from: begin, to: end)) + 1e-10)
        }
        // A card of 8000 Hz plays no interpolated frequencies.
        #expect(abs(decibels(from: 0.8, to: 2.98) + 40) < 1)
        for begin in stride(from: 0.8, to: 2.95, by: 0.02) {
            #expect(abs(decibels(from: begin, to: begin + 0.02) + 40) < 4, "\(begin) s")
        }
    }
}
