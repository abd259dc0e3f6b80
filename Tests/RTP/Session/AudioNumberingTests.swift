import TenfourPackets
import TenfourSeededRandom
import Testing

@testable import TenfourSession

struct AudioNumberingTests {
    /// The packets of a stream, some of which carry no audio, arrive out of order by up to 20 places. The audio has
    /// numbers without gaps.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func audioHasConsecutiveNumbers(seed: UInt64) {
        var randomness = SeededRandom(seed: seed)
        let first = SequenceNumber(rawValue: UInt16.random(in: 0...65_535, using: &randomness))
        var packets: [(number: SequenceNumber, expected: Int?, order: Int)] = []
        var audioCount = 0
        for index in 0..<70_000 {
            // The first packets are audio: numbering begins with audio.
            let isAudio = index < 100 || !randomness.happens(0.1)
            // Packets without audio stay in order. Late ones leave gaps.
            let isLate = isAudio && index >= 100 && randomness.happens(0.1)
            let delay = isLate ? Int.random(in: 0...20, using: &randomness) : 0
            let order = (index + delay) * 2 + (isLate ? 1 : 0)
            packets.append((first.advanced(by: index), isAudio ? audioCount : nil, order))
            if isAudio { audioCount += 1 }
        }
        packets.sort { $0.order < $1.order }
        var numbering = AudioNumbering()
        var wrongCount = 0
        for packet in packets {
            if let expected = packet.expected {
                if numbering.number(of: packet.number) != first.advanced(by: expected) { wrongCount += 1 }
            } else {
                numbering.skip(packet.number)
            }
        }
        #expect(wrongCount == 0)
    }

    @Test func aLateOneLeavesAGapAndADoubleChangesNothing() {
        var numbering = AudioNumbering()
        func number(_ value: UInt16) -> UInt16 { numbering.number(of: SequenceNumber(rawValue: value)).rawValue }
        numbering.skip(SequenceNumber(rawValue: 9))
        #expect(number(10) == 10)
        #expect(number(12) == 12)
        numbering.skip(SequenceNumber(rawValue: 11))
        #expect(number(13) == 13)
        numbering.skip(SequenceNumber(rawValue: 14))
        numbering.skip(SequenceNumber(rawValue: 14))
        numbering.skip(SequenceNumber(rawValue: 15))
        #expect(numbering.othersBefore(SequenceNumber(rawValue: 16)) == 2)
        #expect(number(16) == 14 && number(13) == 13 && number(17) == 15)
        #expect(numbering.othersBefore(SequenceNumber(rawValue: 17)) == 0)
        // A jump, back and forth.
        #expect(number(40_000) == 39_998 && number(200) == 198 && number(201) == 199)
        numbering.skip(SequenceNumber(rawValue: 30_000))
        #expect(number(202) == 200)
    }

    @Test func anotherStreamGoesOnAtTheNextNumber() {
        var numbering = AudioNumbering()
        func number(_ value: UInt16) -> UInt16 { numbering.number(of: SequenceNumber(rawValue: value)).rawValue }
        #expect(number(10) == 10)
        numbering.skip(SequenceNumber(rawValue: 11))
        numbering.skip(SequenceNumber(rawValue: 12))
        numbering.restart(with: SequenceNumber(rawValue: 40_000))
        #expect(number(40_000) == 11 && number(40_001) == 12)
        numbering.skip(SequenceNumber(rawValue: 40_002))
        #expect(number(40_003) == 13)
    }
}
