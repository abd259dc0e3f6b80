import TenfourPackets
import TenfourRadio
import TenfourSession
import Testing

@testable import tenfour

/// The lines about payload types that nobody has named.
struct EventNoticeTests {
    private let sender = Endpoint(.v4(0xC000_0207), port: 5004)

    private func line(_ event: Event) -> String? {
        var configuration = RadioConfiguration(local: sender, rtpSession: RTPSessionConfiguration())
        configuration.output = .clock
        return EventNotice(names: TalkerNames(), channelStatus: ChannelStatus(configuration), verbose: false)
            .line(for: event)
    }

    @Test func recognisedOpusIsNamedWithItsOption() {
        #expect(
            line(.opusRecognised(SSRC(9), payloadType: 97, from: sender))
                == "packets of payload type 97 from 192.0.2.7:5004 are Opus and are played from now on: "
                + "--payload-type 97 plays them from the first one")
    }

    @Test func anUnknownTypeComesWithARemedy() {
        #expect(
            line(.payloadTypeUnknown(SSRC(9), payloadType: 97, from: sender))
                == "packets of payload type 97 arrive from 192.0.2.7:5004, and no codec is named for it: if it is Opus, "
                + "write --payload-type 97, or else give an SDP file of the sender")
        #expect(
            line(.payloadTypeUnknown(SSRC(9), payloadType: 9, from: sender))
                == "packets of payload type 9 (G722) arrive from 192.0.2.7:5004 and cannot be played: let the sender use "
                + "Opus or G.711")
        #expect(
            line(.payloadTypeUnknown(SSRC(9), payloadType: 35, from: sender))
                == "packets of payload type 35 arrive from 192.0.2.7:5004, and no codec is named for it: give an SDP file "
                + "of the sender")
    }

    /// A stranger that sends under many SSRCs fills no screen.
    @Test func strangersAreLimited() {
        var notices = StrangerNotices(remotes: [])
        let now = ContinuousClock.now
        let shown = (0..<100).count {
            notices.mayShow(.payloadTypeUnknown(SSRC($0), payloadType: 97, from: sender), TalkerNames(), at: now)
        }
        #expect(shown == StrangerNotices.maximumCount)
    }
}
