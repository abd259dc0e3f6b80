import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import Testing

private func loses(_ number: Int) -> Bool { number % 20 == 10 }

@Test func aCopyInTheNextPacketFillsThePlaceOfWhatIsLost() {
    var talk = SimulatedTalk()
    talk.buffer.setRecoveryDemand(
        RecoveryDemand(lookAhead: FrameCount(960), retransmissionTime: .zero, limit: FrameCount(4_800)))
    talk.delay = { loses($0) ? nil : FrameCount(48) }
    talk.repair = { _ in (.copy, FrameCount(960 + 48)) }
    talk.run(seconds: 10)
    let statistics = talk.buffer.statistics
    #expect(statistics.recoveredByCopy == FrameCount(25 * 960))
    #expect(statistics.concealed == .zero)
    #expect(statistics.spareRecoveries >= 470, "the others were not needed")
    #expect(statistics.duplicates == 0 && statistics.late == 0 && statistics.lateRecoveries == 0)
    #expect(statistics.due == statistics.decoded + statistics.recoveredByCopy)
}

@Test(arguments: [1, 2, 3]) func thePlayoutDelayAllowsForDistantCopies(distance: Int) {
    var talk = SimulatedTalk()
    talk.delay = { loses($0) ? nil : FrameCount(48) }
    talk.repair = { _ in (.copy, FrameCount(distance * 960 + 48)) }
    talk.run(seconds: 5)
    talk.buffer.setRecoveryDemand(
        RecoveryDemand(lookAhead: FrameCount(distance * 960), retransmissionTime: .zero, limit: FrameCount(4_800)))
    talk.run(seconds: 5)
    let before = talk.buffer.statistics
    talk.run(seconds: 10)
    #expect(talk.buffer.statistics.concealed == before.concealed)
    let delay = Double(talk.buffer.statistics.delay.rawValue) / 48
    #expect(delay > Double(20 * distance) && delay < Double(20 * distance) + 13, "\(delay) ms")
}

@Test func resendsDoNotDisturbTheDelayEstimate() {
    var talk = SimulatedTalk()
    talk.delay = { loses($0) ? nil : FrameCount(48) }
    talk.repair = { loses($0) ? (.retransmitted, FrameCount(4_800)) : nil }
    talk.run(seconds: 20)
    let statistics = talk.buffer.statistics
    #expect(statistics.lateRecoveries >= 48, "100 ms after their time, and nobody had asked for such a depth")
    #expect(statistics.late == 0 && statistics.recoveredByRetransmission == .zero)
    #expect(statistics.target < FrameCount(960 + 480), "the look-ahead of one packet, no more")
}

@Test func retransmissionsAreAwaitedUpToTheLimit() {
    for (limit, isHeard) in [(FrameCount(9_600), true), (FrameCount(2_400), false)] {
        var talk = SimulatedTalk()
        talk.delay = { loses($0) ? nil : FrameCount(48) }
        talk.repair = { loses($0) ? (.retransmitted, FrameCount(4_800)) : nil }
        talk.buffer.setRecoveryDemand(
            RecoveryDemand(lookAhead: .zero, retransmissionTime: FrameCount(4_800), limit: limit))
        talk.run(seconds: 10)
        let statistics = talk.buffer.statistics
        #expect((statistics.recoveredByRetransmission >= FrameCount(24 * 960)) == isHeard)
        #expect((statistics.concealed == .zero) == isHeard)
        #expect(statistics.target <= limit)
    }
}

@Test func theLookAheadStaysWhileCopiesRecoverEveryLoss() {
    var talk = SimulatedTalk()
    talk.delay = { loses($0) ? nil : FrameCount(48) }
    talk.repair = { _ in (.copy, FrameCount(960 + 48)) }
    talk.run(seconds: 20)
    let before = talk.buffer.statistics
    talk.run(seconds: 20)
    #expect(talk.buffer.statistics.concealed == before.concealed, "a recovered loss is a loss all the same")
}

@Test func anOriginalTakesThePlaceOfItsCopy() {
    var queue = PacketQueue(capacity: 8)
    let (copy, original): ([UInt8], [UInt8]) = ([1, 2], [3, 4, 5])
    #expect(insert(copy, .copy) == .queued)
    #expect(insert(original, .original) == .queued)
    #expect(insert(copy, .retransmitted) == .duplicate)
    #expect(insert(original, .original) == .duplicate)
    let (count, byteCount) = (queue.count, queue.head.map { queue.payload(of: $0).count })
    #expect(count == 1 && byteCount == 3)

    func insert(_ bytes: [UInt8], _ origin: PacketOrigin) -> PacketQueue.Insertion {
        let packet = PacketInfo(
            sequenceNumber: SequenceNumber(rawValue: 5), timestamp: RTPTimestamp(rawValue: 0),
            frameCount: FrameCount(960),
            origin: origin)
        return queue.insert(bytes.span, packet, sequence: 5, start: .zero)
    }
}

@Test func aCopyOfWhatIsLongOverBeginsNoTalkspurt() {
    var talk = SimulatedTalk()
    talk.isSpoken = { $0 < 51 }
    talk.delay = { $0 < 50 ? FrameCount(48) : nil }
    talk.repair = { $0 == 50 ? (.retransmitted, FrameCount(24_000)) : nil }
    talk.run(seconds: 1.4)
    let isIdleBefore = talk.buffer.isIdle
    talk.run(seconds: 0.6)
    let isIdleAfter = talk.buffer.isIdle
    #expect(isIdleBefore && isIdleAfter)
    #expect(talk.buffer.statistics.lateRecoveries == 1)
}
