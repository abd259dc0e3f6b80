import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Reports and questions that lie cost what the tables of limits say, and never the call.
struct LiesTests {
    @Test func aReceiverThatReportsTotalLossGetsTheLowestBitRate() {
        var talker = talking()
        var bytes = 0
        for number in 0..<1_500 {
            let now = seconds(Double(number) / 50)
            talker.wait(until: now)
            talker.send(number, startsTalkspurt: number == 0, at: now)
            var block = RedundancyTests.block
            block.fractionLost = 255
            block.cumulativeLost = 0x7F_FFFF
            _ = talker.receive(report(SSRC(1), [block]), from: bob, at: now)
            bytes += talker.takeDatagrams().filter { !$0.isControl }.map { $0.bytes.count - 12 }.reduce(0, +)
        }
        #expect(bytes <= 4_000 * 31)
        #expect(talker.lossProtection.bitRate >= 6_000)
        #expect(talker.sendStream.packetCount == 1_500)
    }

    @Test func aRoundTripOfHoursIsNotBelieved() {
        var talker = talking()
        for number in 0..<500 {
            let now = seconds(Double(number) / 50)
            talker.send(number, startsTalkspurt: number == 0, at: now)
            var block = RedundancyTests.block
            block.fractionLost = 26
            block.lastSenderReport = ShortNTPTime(rawValue: UInt32(number) &* 77_777_777)
            block.delaySinceLastSenderReport = .seconds(number)
            _ = talker.receive(report(SSRC(1), [block]), from: bob, at: now)
            _ = talker.takeDatagrams()
        }
        #expect(talker.lossProtection.bitRate >= 12_000)
        #expect(talker.sendStream.packetCount == 500)
    }

    @Test func aHundredThousandQuestionsInASecondAreCountedAndCostALittle() {
        var talker = talking()
        for number in 0..<50 { talker.send(number, startsTalkspurt: number == 0, at: seconds(Double(number) / 50)) }
        _ = talker.takeDatagrams()
        let question = nack(Array(0..<50))
        var bytes = 0
        for step in 0..<100_000 {
            let now = seconds(1 + Double(step) / 100_000)
            _ = talker.receive(question, from: bob, at: now)
            bytes += talker.takeDatagrams().map { $0.bytes.count - 12 }.reduce(0, +)
        }
        // What may go out in that second, and what two before it can have saved up.
        #expect(bytes <= Int(4_000 * 1.15 * 3) + 80)
        let retransmission = talker.sendStream.retransmission
        #expect(retransmission.nackCount == 100_000)
        #expect(
            retransmission.refusedCount + retransmission.retransmittedCount + retransmission.unknownCount == 5_000_000)
        #expect(retransmission.retransmittedCount <= 50 * 8)
    }

    @Test func requestsForUnsentPacketsAreCountedAndCheap() {
        var talker = talking()
        talker.send(0, startsTalkspurt: true, at: .start)
        _ = talker.takeDatagrams()
        for step in 0..<10_000 {
            _ = talker.receive(nack([30_000, 30_001, 40_000]), from: bob, at: seconds(Double(step) / 1_000))
            #expect(talker.takeDatagrams().isEmpty || step > 1_000)
        }
        let retransmission = talker.sendStream.retransmission
        #expect(retransmission.retransmittedCount == 0)
        #expect(retransmission.unknownCount <= 3 * (100 * 10 + 50))
        #expect(retransmission.unknownCount + retransmission.refusedCount == 30_000)
    }

    @Test func aSourceWhoseNumbersLeapIsNotAskedForThousands() {
        var configuration = RTPSessionConfiguration()
        configuration.lossProtection.sourcesSupportNACK = true
        var listener = session(1, configuration)
        var asked = 0
        var bytes = 0
        for number in 0..<1_000 {
            let now = seconds(Double(number) / 50)
            listener.wait(until: now)
            _ = listener.receive(media(SSRC(9), number * 900), from: alice, at: now)
            let sent = listener.takeDatagrams()
            asked += sent.flatMap(\.packets).compactMap(\.nack).map(\.sequenceNumbers.count).max() ?? 0
            bytes += sent.map(\.bytes.count).reduce(0, +)
            #expect(sent.flatMap(\.packets).compactMap(\.nack).allSatisfy { $0.sequenceNumbers.count <= 64 })
        }
        #expect(bytes < 92_000, "less than came")
        #expect(asked < 64 * 1_000)
    }

    /// What came from there may have been forged.
    @Test func anUntypedAddressGetsNoMoreBytesThanItSent() {
        var configuration = RTPSessionConfiguration()
        configuration.lossProtection.sourcesSupportNACK = true
        var listener = session(1, configuration)
        var (bytesIn, bytesOut, nackCount) = (0, 0, 0)
        for number in 0..<1_000 {
            let now = seconds(Double(number) / 50)
            let packet = media(SSRC(9), number * 3, payload: [0xF8, 1, 2])
            bytesIn += packet.count
            _ = listener.receive(packet, from: alice, at: now)
            listener.wait(until: now + .milliseconds(19))
            let sent = listener.takeDatagrams()
            bytesOut += sent.map(\.bytes.count).reduce(0, +)
            nackCount += sent.flatMap(\.packets).compactMap(\.nack).count
            #expect(bytesOut <= bytesIn)
        }
        #expect(nackCount > 10)
    }

    @Test func liesFromElsewhereChangeNothing() {
        var talker = talking()
        for number in 0..<200 {
            let now = seconds(Double(number) / 50)
            talker.send(number, startsTalkspurt: number == 0, at: now)
            var block = RedundancyTests.block
            block.fractionLost = 200
            _ = talker.receive(report(SSRC(66), [block]), from: carol, at: now)
        }
        #expect(talker.lossProtection == LossProtection(bitRate: 32_000))
    }

    private func talking() -> RTPSession { session(9, RTPSessionConfiguration(remotes: [bob])) }
}
