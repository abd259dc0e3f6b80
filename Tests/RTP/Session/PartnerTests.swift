import TenfourAudioCore
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// A partner whose address changes.
struct PartnerTests {
    @Test func sendingAndReceivingFollowThePartner() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob], accepted: .only([bob.address])))
        talker.send(0, at: seconds(0))
        #expect(talker.takeDatagrams().allSatisfy { $0.endpoint == bob })
        #expect(talker.receive(media(SSRC(1), 0), from: carol, at: seconds(0.1)) == .discarded(.stranger))

        talker.partnerMoved(to: carol, accepting: [carol.address], at: seconds(1))
        talker.send(1, at: seconds(1))
        talker.wait(until: seconds(8))
        let sent = talker.takeDatagrams()
        #expect(sent.contains { !$0.isControl } && sent.contains { $0.isControl })
        #expect(sent.allSatisfy { $0.endpoint == carol })
        guard case .media = talker.receive(media(SSRC(1), 1), from: carol, at: seconds(9)) else {
            Issue.record("the partner is not heard at the new address")
            return
        }
        #expect(talker.receive(media(SSRC(2), 0), from: bob, at: seconds(9)) == .discarded(.stranger))
    }
}
