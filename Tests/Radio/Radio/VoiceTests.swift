import Foundation
import TenfourAudioCore
import TenfourChannelKeys
import TenfourJitterBuffer
import TenfourPackets
import TenfourSeededRandom
import TenfourSystem
import Testing

@testable import TenfourRadio

/// Discontinuous transmission, and the volumes of talkers.
@Suite struct VoiceTests {
    /// The noise of a quiet room.
    private func roomNoise(seconds: Double) -> [Float] {
        var random = SeededRandom(seed: 1)
        return (0..<Int(seconds * 48_000)).map { _ in Float(random.unit() - 0.5) * 0.002 }
    }

    private func quietRoom(seconds: Double) throws -> SimulatedRoom {
        let room = try SimulatedRoom()
        let talker = try SimulatedTalker(coding: discontinuous)
        room.talkers.append(talker)
        room.sounds[talker.ssrc] = roomNoise(seconds: seconds)
        return room
    }

    private var discontinuous: CodingSettings {
        var coding = CodingSettings()
        coding.isDiscontinuous = true
        return coding
    }

    /// 40 bytes are the headers of IPv4, UDP and RTP.
    @Test func anIdleMicrophoneSendsAtMostThreeKilobits() throws {
        let talker = try SimulatedTalker(coding: discontinuous)
        _ = talker.say(roomNoise(seconds: 2))
        let packets = talker.say(roomNoise(seconds: 20))
        let bits = packets.map { ($0.packet.byteCount + 40) * 8 }.reduce(0, +)
        #expect(bits / 20 <= 3_000 && !packets.isEmpty, "\(bits / 20) bit/s in \(packets.count) packets")
        #expect(packets.count { $0.startsTalkspurt } >= packets.count / 2 - 1)
        #expect(packets.count { $0.packet.byteCount == 1 } >= packets.count / 2 - 1)
    }

    @Test func speechAfterAPauseIsSentWhole() throws {
        let talker = try SimulatedTalker(coding: discontinuous)
        _ = talker.say(roomNoise(seconds: 3))
        let packets = talker.say(tone(440, seconds: 1))
        #expect(packets.count >= 49)
        #expect(packets.first?.startsTalkspurt == true)
    }

    @Test func withoutDiscontinuousTransmissionAllPacketsAreSent() throws {
        let talker = try SimulatedTalker()
        #expect(talker.say(roomNoise(seconds: 3)).count == 150)
    }

    @Test func anEncryptedStreamSendsAllPackets() throws {
        var configuration = try RadioConfiguration.sending(to: StreamAddress(parsing: "rtp://127.0.0.1:5004"))
        configuration.coding.isDiscontinuous = true
        #expect(configuration.codingAsProtected.isDiscontinuous)
        let suite = SRTPSuite.allCases[0]
        let key = SRTPMasterKey(suite, base64: Data(repeating: 7, count: suite.masterByteCount).base64EncodedString())
        let masterKey = try #require(key)
        configuration.protection = .srtp(masterKey)
        #expect(!configuration.codingAsProtected.isDiscontinuous)
    }

    /// The noise goes on between the packets, which come every 600 ms: it is neither silent for long nor counted as
    /// concealed.
    @Test func comfortNoiseFillsAPause() throws {
        let room = try quietRoom(seconds: 8)
        room.run(seconds: 8)
        let heard = room.heard(from: 4, to: 7.9)
        let levels = stride(from: 0, to: heard.count - 960, by: 960).map {
            meanSquare(of: Array(heard[$0..<$0 + 960]).span)
        }
        let usual = levels.sorted()[levels.count / 2]
        #expect(usual > 1e-9)
        #expect(
            levels.count { $0 < usual / 30 } <= levels.count / 20,
            "\(levels.count { $0 < usual / 30 }) of \(levels.count)")
        let playout = try #require(room.report(of: 1)?.playout)
        #expect(playout.concealed < FrameCount(960), "\(playout.concealed)")
        #expect(playout.decoded < FrameCount(5 * 48_000))
    }

    @Test func aTalkerThatFallsSilentIsForgottenWithinASecondAndAHalf() throws {
        let room = try quietRoom(seconds: 4)
        room.run(seconds: 6)
        #expect(room.report(of: 1)?.isHeard == false)
    }

    /// The same packets are heard at the usual volume, for comparison.
    @Test(arguments: [-60, -12, -3, 0, 6, 12] as [Double]) func aVolumeIsExact(decibels: Double) throws {
        func level(_ volume: Float) throws -> Double {
            let room = try SimulatedRoom()
            let talker = try SimulatedTalker(ssrc: 1)
            room.talkers.append(talker)
            room.sounds[talker.ssrc] = tone(440, seconds: 2, loudness: 0.1)
            let volumes = TalkerVolumes()
            volumes.set(volume, of: SSRC(1))
            volumes.apply(to: &room.pipeline.mixer)
            room.run(seconds: 2)
            return loudness(of: room.heard(from: 1, to: 1.9))
        }
        let change = self.decibels(try level(Float(pow(10, decibels / 20))) / level(1))
        #expect(abs(change - decibels) < 0.5, "\(change) dB")
    }

    private func decibels(_ ratio: Double) -> Double { 20 * log10(ratio) }

    @Test func eachTalkerHasAVolume() throws {
        let room = try SimulatedRoom()
        for (ssrc, pitch) in [(1, 440.0), (2, 1_000.0), (3, 700.0)] as [(UInt32, Double)] {
            let talker = try SimulatedTalker(ssrc: ssrc)
            room.talkers.append(talker)
            room.sounds[talker.ssrc] = tone(pitch, seconds: 4, loudness: 0.2)
        }
        let volumes = TalkerVolumes()
        volumes.set(0, of: SSRC(2))
        volumes.set(0.5, of: SSRC(3))
        volumes.apply(to: &room.pipeline.mixer)
        room.run(seconds: 2)
        let heard = room.heard(from: 1, to: 1.9)
        #expect(abs(decibels(amplitude(of: 440, in: heard) / 0.2)) < 0.5)
        #expect(amplitude(of: 1_000, in: heard) < 0.005)
        #expect(abs(decibels(amplitude(of: 700, in: heard) / 0.1)) < 0.5)
        volumes.set(1, of: SSRC(2))
        volumes.apply(to: &room.pipeline.mixer)
        room.run(seconds: 1.9)
        #expect(abs(decibels(amplitude(of: 1_000, in: room.heard(from: 2.5, to: 3.8)) / 0.2)) < 0.5)
        #expect(volumes.volume(of: SSRC(3)) == 0.5 && volumes.volume(of: SSRC(2)) == 1)
    }

    @Test func aMuteIsKeptLongerThanAnotherVolume() {
        let volumes = TalkerVolumes()
        volumes.set(0, of: SSRC(100))
        for ssrc in 0..<16 as Range<UInt32> { volumes.set(0.5, of: SSRC(ssrc)) }
        #expect(volumes.volume(of: SSRC(100)) == 0 && volumes.volume(of: SSRC(0)) == 1)
        for ssrc in 0..<16 as Range<UInt32> { volumes.set(0, of: SSRC(ssrc)) }
        #expect(volumes.volume(of: SSRC(100)) == 1, "more mutes than places")
    }

    @Test func onlySomeVolumesAreKeptAndNoneIsOutOfRange() {
        let volumes = TalkerVolumes()
        for ssrc in 0..<40 as Range<UInt32> { volumes.set(0.5, of: SSRC(ssrc)) }
        #expect((0..<40 as Range<UInt32>).count { volumes.volume(of: SSRC($0)) == 0.5 } == TalkerVolumes.capacity)
        #expect(volumes.volume(of: SSRC(39)) == 0.5)
        for (given, kept) in [(Float.nan, 0), (-1, 0), (9, 4), (.infinity, 4)] as [(Float, Float)] {
            volumes.set(given, of: SSRC(50))
            #expect(volumes.volume(of: SSRC(50)) == kept)
        }
    }
}
