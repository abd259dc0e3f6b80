import TenfourAudioCore
import TenfourPackets
import Testing

struct ReceptionStatisticsTests {
    private var statistics = ReceptionStatistics(ssrc: SSRC(9))
    private let now = Instant.start + .seconds(100)

    @Test mutating func everyPacketInItsPlaceIsNoLoss() throws {
        arrive(Array(10..<60))
        let block = try report()
        #expect(block.ssrc == SSRC(9))
        #expect(block.fractionLost == 0)
        #expect(block.cumulativeLost == 0)
        #expect(block.extendedHighestSequenceNumber == 59)
    }

    @Test mutating func threeLostOfTenAre76Of256() throws {
        arrive([0, 1, 3, 4, 5, 7, 9])
        let first = try report()
        #expect(first.fractionLost == 76)
        #expect(first.cumulativeLost == 3)
        arrive(Array(10..<20))
        let second = try report()
        #expect(second.fractionLost == 0)
        #expect(second.cumulativeLost == 3)
    }

    @Test mutating func aSourceThatFellSilentIsLeftOut() {
        var blocks = [statistics.reportBlock(at: now)]
        arrive([1])
        blocks.append(statistics.reportBlock(at: now))
        blocks.append(statistics.reportBlock(at: now))
        #expect(blocks.map { $0 == nil } == [true, false, true])
    }

    @Test mutating func lossAndReorderingAcrossTheWrapAreCountedOnce() throws {
        let receptions = arrive([65_533, 65_534, 0, 65_535, 3, 2])
        #expect(
            receptions == [
                .ahead(lost: 0), .ahead(lost: 0), .ahead(lost: 1), .reordered(by: 1), .ahead(lost: 2),
                .reordered(by: 1),
            ])
        let block = try report()
        #expect(block.extendedHighestSequenceNumber == 65_536 + 3)
        #expect(block.cumulativeLost == 1)
        #expect(block.fractionLost == 256 / 7)
        #expect(statistics.reorderedCount == 2)
    }

    @Test mutating func duplicatesOutweighLosses() throws {
        let receptions = arrive([5, 5, 6, 6, 6, 8, 5])
        #expect(receptions.filter { $0 == .duplicate }.count == 4)
        #expect(statistics.duplicateCount == 4)
        let block = try report()
        #expect(block.cumulativeLost == -3)
        #expect(block.fractionLost == 0)
    }

    @Test mutating func aStrayIsNotCounted() {
        let receptions = arrive([100, 40_000, 101])
        #expect(receptions == [.ahead(lost: 0), .stray, .ahead(lost: 0)])
        #expect(statistics.receivedCount == 2)
        #expect(statistics.cumulativeLost == 0)
        // Its successor, when it comes after all, is a stray again: the two were not in a row.
        let successor = arrive([40_001])
        #expect(successor == [.stray])
    }

    @Test mutating func twoInARowAfterAJumpAreARestart() throws {
        let receptions = arrive([100, 101, 30_000, 30_001, 30_002])
        #expect(receptions.suffix(3) == [.stray, .restarted, .ahead(lost: 0)])
        #expect(statistics.restartCount == 1)
        let block = try report()
        #expect(block.extendedHighestSequenceNumber == 30_002)
        #expect(block.cumulativeLost == 0)
    }

    @Test mutating func aJumpBeginsWhereLossEnds() {
        let receptions = arrive([0, 2_999, 5_999, 2_900, 2_899])
        #expect(receptions == [.ahead(lost: 0), .ahead(lost: 2_998), .stray, .reordered(by: 99), .stray])
    }

    @Test mutating func lossesBeyond24BitsAreAsManyAsFit() throws {
        arrive((0..<3_000).map { $0 * 2_999 % 65_536 })
        #expect(statistics.cumulativeLost == 2_999 * 2_998)
        let block = try report()
        #expect(block.cumulativeLost == 0x7F_FFFF)
        #expect(block.fractionLost == 255)
    }

    /// 20 ms packets, the third 5 ms late. Transit in frames: 0, 0, 240, 0, 0; by RFC 3550 A.8 the mean in sixteenths
    /// goes 0, 240, 240 + 240 − 15 = 465, 465 − 29 = 436, and 436 / 16 is 27.
    @Test mutating func jitterIsWhatTheFormulaGives() {
        var jitters: [Int] = []
        for (index, milliseconds) in [0, 20, 45, 60, 80].enumerated() {
            statistics.packetArrived(
                SequenceNumber(rawValue: UInt16(index)),
                timestamp: RTPTimestamp(rawValue: 0xFFFF_FF00 &+ 960 * UInt32(index)),
                at: now + .milliseconds(milliseconds))
            jitters.append(statistics.jitter.rawValue)
        }
        #expect(jitters == [0, 0, 15, 29, 27])
    }

    @Test mutating func anEvenStreamHasNoJitterWhateverItsClocksBeginAt() {
        for index in 0..<1_000 {
            statistics.packetArrived(
                SequenceNumber(rawValue: UInt16(index)),
                timestamp: RTPTimestamp(rawValue: 0xFFFF_0000 &+ 960 * UInt32(index)),
                at: Instant(nanoseconds: .max / 2) + .milliseconds(20 * index))
        }
        #expect(statistics.jitter == .zero)
    }

    @Test mutating func aTimestampThatJumpsAboutStaysInItsField() throws {
        for index in 0..<1_000 {
            statistics.packetArrived(
                SequenceNumber(rawValue: UInt16(index)),
                timestamp: RTPTimestamp(rawValue: index % 2 == 0 ? 0 : 0x8000_0000), at: now)
        }
        let block = try report()
        #expect((0x7000_0000...0x8000_0000).contains(block.jitter.rawValue))
    }

    @Test mutating func theLastSenderReportIsAnsweredWithItsAge() throws {
        let senderReport = SenderReport(
            ssrc: SSRC(9), time: NTPTime(rawValue: 0xB44D_B705_2000_0000), timestamp: RTPTimestamp(rawValue: 0),
            packetCount: 0, octetCount: 0)
        arrive([1])
        statistics.senderReportArrived(senderReport, at: now)
        let block = try report(at: now + .milliseconds(5250))
        #expect(block.lastSenderReport == ShortNTPTime(rawValue: 0xB705_2000))
        #expect(block.delaySinceLastSenderReport == .milliseconds(5250))
    }

    /// A packet is missed once 32 later ones have come; until then it may only be late.
    @Test mutating func lossesAreCountedInTheirRunsOnceNothingCanComeAnyMore() {
        _ = arrive(Array(0..<100).filter { ![10, 11, 12, 40, 90].contains($0) })
        #expect(statistics.losses.lossCount == 4 && statistics.losses.runCount == 2)
        _ = arrive([90] + Array(100..<200))
        #expect(statistics.losses.lossCount == 4 && statistics.losses.packetCount == 168)
    }

    /// What is sent again was lost by the network all the same.
    @Test mutating func anAnswerIsNoLessALoss() {
        _ = arrive([0, 1, 2, 4, 5])
        statistics.packetArrived(
            SequenceNumber(rawValue: 3), timestamp: RTPTimestamp(rawValue: 2_880), isRetransmission: true, at: now)
        _ = arrive(Array(6..<80))
        #expect(statistics.cumulativeLost == 0)
        #expect(statistics.losses.lossCount == 1 && statistics.losses.runCount == 1)
    }

    @Test mutating func aSequenceThatBeginsAgainHasLostNothing() {
        _ = arrive([65_530, 65_533, 2] + Array(20_000..<20_100))
        #expect(statistics.restartCount == 1 && statistics.losses.lossCount == 0)
    }

    private mutating func report(at time: Instant? = nil) throws -> ReportBlock {
        let block = statistics.reportBlock(at: time ?? now)
        return try #require(block)
    }

    /// One packet of 20 ms each.
    @discardableResult
    private mutating func arrive(_ sequenceNumbers: [Int]) -> [ReceptionStatistics.Reception] {
        sequenceNumbers.map {
            statistics.packetArrived(
                SequenceNumber(rawValue: UInt16($0)), timestamp: RTPTimestamp(rawValue: UInt32($0) &* 960), at: now)
        }
    }
}
