import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import Testing

@testable import TenfourRadio

/// Profiles and refusals with respect to a relay's limits.
@Suite struct RelayLimitTests {
    @Test(arguments: Profile.allCases, CodingSettings.frames)
    func everyProfileStaysWithinTheLimitsOfARelay(profile: Profile, frame: Duration) {
        var coding = CodingSettings()
        var playout = PlayoutSettings()
        profile.apply(to: &coding, &playout)
        let nominal = Int(Double(coding.bitRate) / 8 * (frame / .seconds(1)))
        let sizes = PaddedSizes(nominal: nominal)
        // Every packet is padded to the third size, as if all were loud onsets. Headers, tags and two announcements a
        // second are added.
        let byteCount = min(sizes.size(of: nominal * 5 / 2), 1_424) + 12 + 16 + HopTag.byteCount
        let packetsPerSecond = 1 / (frame / .seconds(1))
        let limits = RelayLimits()
        #expect(packetsPerSecond + 2 < Double(limits.talkerPacketsPerSecond))
        let bitsPerSecond = packetsPerSecond * Double(8 * byteCount) + 2 * 8 * 68
        #expect(bitsPerSecond < Double(limits.talkerBitsPerSecond))
    }

    /// The slot of a killed listener becomes free when its lease ends, so a restarted listener may have to wait.
    @Test func temporaryRefusalsDoNotEndTheSession() {
        #expect(Refusal.Reason.allCases.filter(\.mayPass) == [.full, .limited, .stopping, .left, .displaced])
        #expect(Refusal.Reason.full.sentence.contains("trying again"))
    }
}
