import TenfourAudioCore
import TenfourJitterBuffer
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Talkers come, go, come back, and talk at once.
struct TalkerTests {
    @Test(arguments: [9, 10], ["lan", "wifi"])
    func aTalkerThatStartsAgainIsHeardWithin200Milliseconds(ssrc: Int, name: String) throws {
        var conversation = Conversation(talkers: [talker], network: try network(name))
        conversation.run(seconds: 5)
        let again = Identity(
            ssrc: SSRC(UInt32(ssrc)), firstSequenceNumber: SequenceNumber(rawValue: 12_345),
            firstTimestamp: RTPTimestamp(rawValue: 3_000_000_000), seed: 5)
        let session = RTPSession(
            identity: again, configuration: RTPSessionConfiguration(remotes: [conversation.link.right.endpoint]),
            at: conversation.link.now)
        let start = conversation.link.now
        conversation.link.replace(0, by: session, speech: Speech(beginning: start))
        conversation.run(seconds: 5)
        let log = conversation.log(of: again.ssrc)
        let index = try #require(
            log.playedAt.indices.first { log.playedAt[$0] > start && log.played[$0] < 20 })
        // The first packet is only there when its 20 ms have been spoken.
        #expect(log.playedAt[index] - start < .milliseconds(200))
        #expect(log.played.suffix(200) == Array(log.played.last! - 199...log.played.last!)[...])
    }

    @Test func twoTalkersAtOnceAreBothHeard() throws {
        let other = Identity(ssrc: SSRC(77), firstSequenceNumber: SequenceNumber(rawValue: 3), seed: 9)
        var conversation = Conversation(talkers: [talker, other], network: try network("wifi"), seed: 2)
        conversation.run(seconds: 30)
        for ssrc in [talker.ssrc, other.ssrc] {
            let log = conversation.log(of: ssrc)
            #expect(log.played == log.played.sorted())
            #expect(log.played.count > 1_450)
        }
    }

    @Test func aTalkerThatLeavesIsHeardToTheEndOverALinkThatReorders() throws {
        let network = NetworkModel(delay: .milliseconds(30), jitter: .normal(deviation: .milliseconds(10)))
        var conversation = Conversation(talkers: [talker], network: network, seed: 8)
        conversation.run(seconds: 10)
        conversation.link.leave(0)
        conversation.run(seconds: 2)
        let log = conversation.log(of: talker.ssrc)
        #expect(log.played.last == conversation.link.left.session.sendStream.packetCount - 1)
        let gone = conversation.link.right.events.filter { if case .sourceLeft = $0 { true } else { false } }
        #expect(gone == [.sourceLeft(talker.ssrc, reason: "")])
        #expect(conversation.link.right.events.last == gone.last, "and does not come back")
    }

    @Test func talkspurtsAreHeardWholeThroughTheSilencesBetween() throws {
        var conversation = Conversation(talkers: [talker], network: try network("lan"))
        let start = conversation.link.now
        conversation.link.left.speech = Speech(beginning: start, isSpoken: { $0 % 150 < 50 })
        conversation.run(seconds: 30)
        let log = conversation.log(of: talker.ssrc)
        #expect(log.played == (0..<1_500).filter { $0 % 150 < 50 })
        #expect(conversation.statistics(of: talker.ssrc).concealed == .zero)
    }
}
