import Foundation
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRadio

/// The rates that talkers send stay below the limits of a relay.
struct LimitTests {
    private static let isLong = ProcessInfo.processInfo.environment["TENFOUR_LONG"] != nil
    private static let frames = isLong ? CodingSettings.frames : [.microseconds(2_500), .milliseconds(20)]
    private static let seconds = isLong ? 30 : 5

    /// Each link loses a tenth of its packets. Lost packets are repaired by copies (`.copy`) or by retransmission
    /// (`.nack`).
    @Test(arguments: Profile.allCases, frames)
    func lossProtectionStaysWithinTheLimitsOfARelay(profile: Profile, frame: Duration) throws {
        for mode in [LossProtectionConfiguration.Mode.copy, .nack] {
            var configuration = RadioConfiguration(
                local: Airwaves.endpoint(0), rtpSession: RTPSessionConfiguration())
            configuration.rtpSession.lossProtection.mode = mode
            configuration.coding.frame = frame
            profile.apply(to: &configuration)
            let coding = configuration.coding
            let frameCount = FrameCount(coding.frame)
            var channel = Family.configuration(.talk)
            channel.frameCount = frameCount
            channel.sizes = PaddedSizes(nominal: coding.bitRate * frameCount.rawValue / 48_000 / 8)
            var speech = Speech(frameCount: frameCount)
            speech.followsDefence = true
            let lossProtection = configuration.rtpSessionAsCoded.lossProtection
            let talker = Member(0, channel, ssrc: 9, speech: speech, lossProtection: lossProtection)
            let listener = Member(1, Family.configuration(.listen), ssrc: 6, lossProtection: lossProtection)
            let relay = RealRelay()
            let air = Airwaves(
                [talker, listener], relay, network: NetworkModel(loss: .random(0.1), delay: .milliseconds(10)))
            let limits = RelayLimits()
            var (packets, bits, most) = (0, 0, 0)
            air.loses = { datagram, member in
                guard member == 0, Self.isOfATalker(datagram) else { return false }
                packets += 1
                bits += 8 * datagram.count
                return false
            }
            for _ in 0..<Self.seconds {
                (packets, bits) = (0, 0)
                air.run(seconds: 1)
                #expect(packets <= limits.talkerPacketsPerSecond && bits <= limits.talkerBitsPerSecond, "\(mode)")
                most = max(most, packets)
            }
            let isDefended =
                mode == .copy
                ? !talker.rtpSession.lossProtection.copies.isEmpty
                : talker.rtpSession.sendStream.retransmission.retransmittedCount > 0
            #expect(isDefended && most >= Int(1 / (frame / .seconds(1))), "\(mode): \(most) packets")
            let discards = relay.status.discards
            #expect(discards[.tooManyPackets] == 0 && discards[.tooManyBits] == 0, "\(mode)")
            #expect(!talker.eventsOnly.contains { if case .limited = $0 { true } else { false } }, "\(mode)")
        }
    }

    /// Whether the datagram counts against a talker's limits: a media packet or an announcement.
    private static func isOfATalker(_ datagram: [UInt8]) -> Bool {
        (128...191).contains(datagram[0]) || datagram.starts(with: [99, 1, 8])
    }
}
