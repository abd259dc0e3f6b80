import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourSession

struct RetransmitterTests {
    private static let datagram = [UInt8](repeating: 5, count: 92)

    /// Packets 65 530 to 65 535 and 0 to 93 are kept.
    private func retransmitter() -> Retransmitter {
        var retransmitter = Retransmitter(bitRate: 32_000)
        for number in 0..<100 {
            retransmitter.keep(
                SequenceNumber(rawValue: 65_530).advanced(by: number), Self.datagram.span, at: .start)
        }
        return retransmitter
    }

    private func nack(_ numbers: [UInt16]) -> GenericNACK {
        GenericNACK(sender: SSRC(1), media: SSRC(9), sequenceNumbers: numbers.map { SequenceNumber(rawValue: $0) })
    }

    @Test func packetsAreRetransmittedAcrossTheWrap() {
        var retransmitter = retransmitter()
        var counts = RetransmissionCounts()
        let due = retransmitter.retransmit(
            nack([65_535, 0, 500]), to: 0, roundTrip: nil, counting: &counts, at: .start)
        #expect(due == [Self.datagram, Self.datagram])
        #expect(counts.retransmittedCount == 2)
        #expect(counts.byteCount == 160)
        #expect(counts.unknownCount == 1)
    }

    @Test func theSameRemoteWaitsMostOfARoundTrip() {
        var retransmitter = retransmitter()
        var counts = RetransmissionCounts()
        for (milliseconds, count) in [(0, 1), (79, 0), (80, 1)] {
            let due = retransmitter.retransmit(
                nack([3]), to: 0, roundTrip: .milliseconds(100), counting: &counts,
                at: .start + .milliseconds(milliseconds))
            #expect(due.count == count, "\(milliseconds)")
        }
        let other = retransmitter.retransmit(
            nack([3]), to: 1, roundTrip: .milliseconds(100), counting: &counts, at: .start + .milliseconds(81))
        #expect(other.count == 1, "another remote")
        #expect(counts.refusedCount == 1)
    }

    @Test func bytesAreLimitedByTheBitRate() {
        var retransmitter = retransmitter()
        var counts = RetransmissionCounts()
        let wanted = (0..<94).map { UInt16($0) }
        let limit = Int(32_000.0 / 8 * 1.15 * 2 * 0.75)
        for remote in 0..<8 {
            _ = retransmitter.retransmit(nack(wanted), to: remote, roundTrip: nil, counting: &counts, at: .start)
        }
        #expect(counts.byteCount <= limit)
        #expect(counts.byteCount > limit - 80)
    }

    @Test func nothingIsKeptAfterAChangeOfTheSSRC() {
        var retransmitter = retransmitter()
        var counts = RetransmissionCounts()
        retransmitter.removeAll()
        #expect(
            retransmitter.retransmit(nack([3]), to: 0, roundTrip: nil, counting: &counts, at: .start).isEmpty)
        #expect(counts.unknownCount == 1)
    }
}
