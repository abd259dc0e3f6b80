import TenfourAudioCore
import TenfourJitterBuffer
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Loss protection from end to end: packets are lost, recovered, and played in time.
struct RecoveryDelayTests {
    private let talker = Identity(ssrc: SSRC(9), firstSequenceNumber: SequenceNumber(rawValue: 65_500), seed: 1)

    /// A jitter buffer without audio to time-scale changes its delay between talkspurts only.
    private var spurts: Speech {
        var speech = Speech(isSpoken: { $0 % 100 < 85 })
        speech.followsDefence = true
        return speech
    }

    @Test(arguments: [("b5", 0.01), ("b10", 0.02), ("b20", 0.06), ("g10", 0.05)])
    func littleIsConcealedWithinAHundredMilliseconds(network: String, limit: Double) throws {
        var model = try #require(NetworkModel(named: network))
        model.delay = .milliseconds(20)
        var conversation = Conversation(talkers: [talker], network: model, seed: 4)
        conversation.link.left.speech = spurts
        conversation.run(seconds: 5)
        let before = conversation.statistics(of: talker.ssrc)
        conversation.run(seconds: 60)
        let after = conversation.statistics(of: talker.ssrc)
        let concealed =
            Double((after.concealed - before.concealed).rawValue) / Double((after.due - before.due).rawValue)
        #expect(concealed < limit, "\(concealed), \(conversation.link.left.session.lossProtection)")
        let depths = conversation.log(of: talker.ssrc).depths
        #expect(depths.reduce(0, +) / Float(depths.count) <= 101)
    }

    /// While nothing was lost playout lies so shallow that no answer could come in time.
    @Test func lossThatBeginsLateIsRecovered() throws {
        var model = NetworkModel(delay: .milliseconds(20))
        var conversation = Conversation(talkers: [talker], network: model, seed: 4)
        conversation.link.left.speech = spurts
        conversation.run(seconds: 3)
        model.loss = .random(0.05)
        conversation.link.change(to: model)
        conversation.run(seconds: 10)
        let source = try #require(conversation.link.right.session.sources.first)
        #expect(source.recovery.retransmittedCount > 10, "\(source.recovery)")
        let before = conversation.statistics(of: talker.ssrc).concealed
        conversation.run(seconds: 10)
        #expect(conversation.statistics(of: talker.ssrc).concealed - before < FrameCount(48 * 160))
    }

    @Test func thePlayoutDelayFollowsTheLoss() throws {
        var model = try #require(NetworkModel(named: "b10"))
        model.delay = .milliseconds(20)
        var conversation = Conversation(talkers: [talker], network: model, seed: 4)
        conversation.link.left.speech = spurts
        conversation.run(seconds: 20)
        #expect(conversation.statistics(of: talker.ssrc).delay > FrameCount(48 * 60))
        conversation.link.change(to: NetworkModel(delay: .milliseconds(20)))
        conversation.run(seconds: 20)
        #expect(conversation.statistics(of: talker.ssrc).delay < FrameCount(48 * 25))
        #expect(conversation.link.left.session.lossProtection.isNone)
    }
}
