import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourTransmissions

@Suite struct PacketSequencerTests {
    private var sequencer = PacketSequencer<Int>()

    /// Adds the packet `number` of 20 ms, of a stream that begins just before both wraps.
    private mutating func insert(_ number: Int, at position: Int? = nil, origin: PacketOrigin = .original) {
        let start = position ?? number * 960
        sequencer.insert(
            number,
            ReceivedPacket(
                ssrc: SSRC(1), sequenceNumber: SequenceNumber(rawValue: 65_533).advanced(by: number),
                timestamp: RTPTimestamp(rawValue: UInt32.max - 1_000).advanced(by: FrameCount(start)),
                frameCount: FrameCount(960), origin: origin), elapsed: FrameCount(start))
    }

    private mutating func taken(before limit: Int = .max) -> [PacketSequencer<Int>.Packet] {
        var packets: [PacketSequencer<Int>.Packet] = []
        while let packet = sequencer.next(before: FrameCount(limit)) { packets.append(packet) }
        return packets
    }

    @Test mutating func packetsComeInTheirOrderAndOnce() {
        for number in [0, 2, 1, 1, 5, 4, 3, 5, 6] { insert(number) }
        let packets = taken()
        #expect(packets.map(\.payload) == [0, 1, 2, 3, 4, 5, 6])
        #expect(packets.allSatisfy { $0.gap == .zero && $0.lostCount == 0 })
    }

    @Test mutating func thePacketBeforeTheFirstIsNotLost() {
        for number in [1, 0, 2] { insert(number) }
        #expect(taken().map(\.payload) == [0, 1, 2])
    }

    @Test mutating func lossAndPauseAreDistinguished() {
        for number in [0, 3] { insert(number) }
        insert(4, at: 4 * 960 + 4_800)
        let packets = taken()
        #expect(packets.map(\.gap) == [0, 1_920, 4_800].map { FrameCount($0) })
        #expect(packets.map(\.lostCount) == [0, 2, 0])
    }

    @Test mutating func whatIsRetransmittedInTimeIsNotLost() {
        for number in [0, 1, 3, 4] { insert(number) }
        #expect(taken(before: 1_900).map(\.payload) == [0, 1])
        insert(2, origin: .retransmitted)
        #expect(taken().map(\.payload) == [2, 3, 4])
    }

    @Test mutating func whatComesTooLateIsDropped() {
        for number in [0, 1, 3] { insert(number) }
        #expect(taken().map(\.lostCount) == [0, 0, 1])
        insert(2)
        insert(4)
        #expect(taken().map(\.payload) == [4])
    }

    @Test mutating func aJumpOfTheTimestampLeavesNoGap() {
        for number in [0, 1] { insert(number) }
        insert(2, at: 2 * 960 + 480_000)
        insert(3, at: 3 * 960 + 480_000)
        insert(4, at: -500_000)
        let packets = taken()
        #expect(packets.map(\.payload) == [0, 1, 2, 3, 4] && packets.allSatisfy { $0.gap == .zero })
    }

    @Test mutating func audioFarAheadOfTimeLeavesNoGap() {
        // Each packet claims to be a second after the one before, although no time passes.
        for number in 0..<100 {
            sequencer.insert(
                number,
                ReceivedPacket(
                    ssrc: SSRC(1), sequenceNumber: SequenceNumber(rawValue: UInt16(number)),
                    timestamp: RTPTimestamp(rawValue: UInt32(number * 48_000)), frameCount: FrameCount(960)),
                elapsed: .zero)
        }
        let gaps = taken().reduce(0) { $0 + $1.gap.rawValue }
        #expect(gaps <= 96_000, "\(gaps)")
    }

    @Test mutating func aTalkerWhoCountsAnewIsHeardAgain() {
        for number in 0..<10 { insert(number) }
        for number in 0..<10 { insert(number - 5_000, at: number * 960 - 20_000_000) }
        let packets = taken()
        #expect(packets.count == 18 && packets.allSatisfy { $0.lostCount == 0 && $0.gap == .zero })
    }

    @Test mutating func aLongTransmissionKeepsItsOrder() {
        var all: [Int] = []
        for number in stride(from: 0, to: 200_000, by: 2) {
            insert(number + 1)
            insert(number)
            all += taken(before: (number - 20) * 960).map(\.payload)
        }
        all += taken().map(\.payload)
        #expect(all == Array(0..<200_000))
    }
}
