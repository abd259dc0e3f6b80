import TenfourAudioCore
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

@testable import TenfourChannelMember

struct TalkingTests {
    private let relay = TinyRelay(Family.talk)

    private func pair(_ suite: SRTPSuite = .aesCounterMode, speech: Speech = Speech()) -> Airwaves {
        let talker = Member(0, Family.configuration(.talk, suite: suite), ssrc: 9, speech: speech)
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        return Airwaves([talker, listener], relay)
    }

    @Test(arguments: SRTPSuite.allCases)
    func aTalkerIsHeardByAListener(suite: SRTPSuite) {
        let air = pair(suite)
        air.run(seconds: 10)
        let (talker, listener) = (air.members[0], air.members[1])
        // Packets sent before the relay has let the talker in are discarded.
        let firstNumber = talker.discards[.beforeJoined]
        #expect(firstNumber > 0 && firstNumber < 10)
        let numbers = listener.heard.map(\.number)
        let isWhole = numbers == Array(numbers[0]...498)
        #expect(isWhole)
        #expect(numbers[0] <= 4)
        #expect(listener.heard.allSatisfy { $0.payload.count == 80 })
        #expect(talker.heard.isEmpty && listener.discards[.unopened] == 0)
        #expect(relay.media.allSatisfy { $0.count == relay.media[0].count })
    }

    @Test func twoTalkersHearEachOther() {
        let left = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let right = Member(1, Family.configuration(.talk, suite: .aesGCM), ssrc: 5, speech: Speech())
        let air = Airwaves([left, right], relay)
        air.run(seconds: 3)
        #expect(left.heard(from: 5).count > 140 && right.heard(from: 9).count > 140)
        #expect(left.heard.count == left.heard(from: 5).count)
    }

    @Test func nothingOfThePayloadsLengthsIsSeen() throws {
        var sizes: Set<Int> = []
        for byteCount in [5, 20, 40, 60, 75] {
            let air = pair(speech: Speech(byteCount: byteCount))
            air.run(seconds: 1)
            sizes.formUnion(relay.media.map(\.count))
            #expect(air.members[1].heard.allSatisfy { $0.payload.count == byteCount })
            #expect(air.members[1].heard.count > 40)
            relay.forgetAll()
        }
        // 20 ms at 24 kbit/s: 60 bytes, rounded up to 64 and then by a quarter to 80, besides the 12-byte header and
        // the 10-byte tag.
        #expect(sizes == [12 + 80 + 10])
    }

    @Test func anAnnouncementGoesBeforeEachOfTheFirstFivePacketsAndThenEachSecond() {
        let air = pair(speech: Speech(isSpoken: { $0 < 200 || $0 > 250 }))
        air.run(seconds: 8)
        let talk = relay.log.filter { $0.from == air.members[0].endpoint }.map(\.bytes)
        let order = talk.compactMap { $0[0] != 99 ? "p" : $0[2] == 8 ? "a" : nil }
        // The first announcement is repeated: it was sent before the relay's first answer, so the relay may have
        // missed it.
        #expect(order.prefix(14).joined() == "apapapapapappp")
        // The first talkspurt (four seconds) has six announcements at its start and three later; the second (three
        // seconds) has five and two.
        #expect(relay.announcements.count == 16)
    }

    @Test func retransmissionsAreIdentical() throws {
        let air = pair()
        air.run(seconds: 3)
        let talker = try #require(relay.sessions.firstIndex { $0.role == .talk })
        let before = relay.media
        let number = SequenceNumber(
            rawValue: UInt16(before[before.count - 10][2]) << 8 | UInt16(before[before.count - 10][3]))
        let nack = GenericNACK(
            sender: SSRC(77), media: SSRC(9), sequenceNumbers: [number, number.advanced(by: -1_000)])
        let report = ReceiverReport(ssrc: SSRC(77))
        relay.report(
            [UInt8](capacity: report.byteCount + nack.byteCount) {
                report.write(into: &$0)
                nack.write(into: &$0)
            }, to: talker)
        air.settleRelay()
        air.run(seconds: 0.1)
        let again = relay.media.dropFirst(before.count).filter { $0[2..<4] == before[before.count - 10][2..<4] }
        #expect(again.map { $0 } == [before[before.count - 10]])
        // A listener that already has the packet does not play it twice.
        #expect(air.members[1].discards[.replayed] == 1)
    }

    @Test func reportsAreSealedForTheRelayAndTheRelaysAreRead() throws {
        let air = pair()
        air.run(seconds: 20)
        #expect(relay.reports.count >= 4)
        #expect(relay.reports.allSatisfy { (try? RTCPCompound(parsing: $0.span)) != nil })
        let listener = try #require(relay.sessions.firstIndex { $0.role == .listen })
        // A relay may send RTCP only: a report that contains an RTP packet is discarded.
        relay.report([128, 111, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9, 1, 2, 3], to: listener)
        let count = air.members[1].openedCount
        let heard = air.members[1].heard.count
        air.settleRelay()
        air.run(seconds: 0.015)
        #expect(air.members[1].openedCount - count == air.members[1].heard.count - heard)
        #expect(air.members[1].discards[.malformed] == 1)
    }

    @Test func aListenersStationThatSpeaksIsNotLetOut() {
        let listener = Member(0, Family.configuration(.listen), ssrc: 9, speech: Speech())
        let air = Airwaves([listener], relay)
        air.run(seconds: 2)
        #expect(listener.discards[.notTalking] == 99 || listener.discards[.notTalking] == 100)
        #expect(!relay.log.contains { $0.bytes[0] != 99 })
    }

    @Test func aSessionIsMadeAgainBeforeItsCounterEndsAndNobodyHearsIt() {
        var configuration = Family.configuration(.talk)
        configuration.lastHopCounter = 200
        let talker = Member(0, configuration, ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 20)
        #expect((6...8).contains(relay.helloCount))
        let numbers = listener.heard.map(\.number)
        let isWhole = numbers == Array(numbers[0]...998)
        #expect(isWhole)
        #expect(talker.events.count == 1)
        #expect(relay.sessions.count == 2)
        #expect(!relay.records.contains(.leave))
    }

    @Test func aTalkerThatJoinsARelayAgainWhileItTalksNeverLeaves() {
        var configuration = Family.configuration(.talk)
        configuration.lastHopCounter = 200
        let talker = Member(0, configuration, ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let relay = RealRelay()
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 20)
        #expect(relay.hellos.count >= 6)
        let numbers = listener.heard.map(\.number)
        let isWhole = numbers == Array(numbers[0]...998)
        #expect(isWhole)
        let hasLeft = listener.stationEvents.contains { if case .sourceLeft = $0 { true } else { false } }
        #expect(!hasLeft)
        #expect(talker.eventsOnly == [.joined(.talk, seenAt: talker.endpoint)])
    }

    @Test func aTalkerLearnsItsLimitsOnce() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let air = Airwaves([talker], relay)
        air.run(seconds: 1)
        for _ in 0..<3 { relay.say(.limited(packetsPerSecond: 40, bitsPerSecond: 128_000)) }
        air.settleRelay()
        air.run(seconds: 1)
        let limits = TalkerLimits(packetsPerSecond: 40, bitsPerSecond: 128_000)
        #expect(talker.eventsOnly.count { $0 == .limited(limits) } == 1)
    }

    @Test func theLastReceiptOfTheRelayIsReturned() {
        let listener = Member(0, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([listener], relay)
        air.run(seconds: 61)
        #expect(relay.receipts == Array(0..<UInt64(relay.receipts.count)) && relay.receipts.count == 7)
    }
}
