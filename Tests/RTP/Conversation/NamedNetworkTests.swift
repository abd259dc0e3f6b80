import TenfourAudioCore
import TenfourJitterBuffer
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// The whole way over each network, by name.
struct NamedNetworkTests {
    private static let networks = ["lan", "b5", "g10", "wifi", "wifi-bad", "lte", "satellite", "j10", "step"]

    @Test(arguments: networks)
    func whateverComesInTimeIsPlayedOnceAndInOrder(name: String) throws {
        var conversation = Conversation(talkers: [talker], network: try network(name), seed: 7)
        conversation.run(seconds: 60)
        let log = conversation.log(of: talker.ssrc)
        #expect(log.played == log.played.sorted(), "order")
        #expect(Set(log.played).count == log.played.count, "played twice")
        let last = try #require(log.played.last)
        let left = Set(log.taken.filter { $0 <= last }).subtracting(log.played)
        #expect(left.isEmpty, "came in time and was not played: \(left.sorted())")
        #expect(log.played.count > 2_400)
    }

    @Test(arguments: [("lan", 0), ("wifi", 1), ("lte", 2), ("b5", 0), ("satellite", 1)])
    func fewPacketsOfAGoodNetworkComeTooLate(name: String, percent: Int) throws {
        var conversation = Conversation(talkers: [talker], network: try network(name), seed: 3)
        conversation.run(seconds: 60)
        let late = conversation.statistics(of: talker.ssrc).late
        #expect(late * 100 <= percent * 3_000, "\(late) of 3000")
    }

    @Test func aCleanLinkLosesNothingAndIsHeardAtOnce() throws {
        var conversation = Conversation(talkers: [talker])
        conversation.run(seconds: 10)
        let log = conversation.log(of: talker.ssrc)
        #expect(log.played == Array(0..<log.played.count))
        #expect(log.played.count >= 498)
        #expect(log.concealed == .zero)
        let first = try #require(log.playedAt.first)
        #expect(first - .start < .milliseconds(40))
        #expect(log.depths.allSatisfy { $0 < 13 })
    }

    @Test func theSameSeedGivesTheSameConversation() throws {
        func talk(seed: UInt64) throws -> (UInt64, [Int]) {
            var conversation = Conversation(talkers: [talker], network: try network("wifi-bad"), seed: seed)
            conversation.run(seconds: 20)
            return (conversation.link.digest, conversation.played(talker.ssrc))
        }
        #expect(try talk(seed: 5) == talk(seed: 5))
        #expect(try talk(seed: 5) != talk(seed: 6))
    }
}

let talker = Identity(
    ssrc: SSRC(9), firstSequenceNumber: SequenceNumber(rawValue: 65_000),
    firstTimestamp: RTPTimestamp(rawValue: .max - 300_000), seed: 4)

func network(_ name: String) throws -> NetworkModel { try #require(NetworkModel(named: name)) }
