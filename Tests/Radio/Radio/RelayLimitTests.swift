import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import Testing

@testable import TenfourRadio

/// What a relay takes and says, and what we make of it.
@Suite struct RelayLimitTests {
    @Test(arguments: Profile.allCases, CodingSettings.frames)
    func everyProfileStaysWithinTheLimitsOfARelay(profile: Profile, frame: Duration) {
        var coding = CodingSettings()
        var playout = PlayoutSettings()
        profile.apply(to: &coding, &playout)
        let nominal = Int(Double(coding.bitRate) / 8 * (frame / .seconds(1)))
        let sizes = PaddedSizes(nominal: nominal)
        // Every packet of the third size: loud onsets all the time. With what is around it, and announcements.
        let byteCount = min(sizes.size(of: nominal * 5 / 2), 1_424) + 12 + 16 + HopTag.byteCount
        let packetsPerSecond = 1 / (frame / .seconds(1))
        let limits = RelayLimits()
        #expect(packetsPerSecond + 2 < Double(limits.talkerPacketsPerSecond))
        let bitsPerSecond = packetsPerSecond * Double(8 * byteCount) + 2 * 8 * 68
        #expect(bitsPerSecond < Double(limits.talkerBitsPerSecond))
    }

    /// The place of a listener that was killed is free when its lease is over: a restarted listener has to wait.
    @Test func temporaryRefusalsDoNotEndTheSession() {
        #expect(Refusal.Reason.allCases.filter(\.mayPass) == [.full, .limited, .stopping, .left, .displaced])
        #expect(Refusal.Reason.full.sentence.contains("trying again"))
    }
}
