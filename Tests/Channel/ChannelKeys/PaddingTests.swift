import TenfourChannelKeys
import TenfourPackets
import Testing

struct PaddingTests {
    @Test func payloadsHaveFewSizes() {
        // 60 bytes are 20 ms at 24 kbit/s.
        let sizes = PaddedSizes(nominal: 60)
        let usual = Set((1...256).map(sizes.size))
        #expect(usual == [80, 128, 256])
        #expect(sizes.size(of: 257) == 512)
        #expect(Set((1...1276).map(sizes.size)).count == 7)
    }

    @Test func aPayloadOnlyGrowsAndNeverByMoreThanCanBeCounted() {
        for nominal in [-1, 1, 8, 60, 80, 160, 319, 1280, .max] {
            let sizes = PaddedSizes(nominal: nominal)
            for count in 0...1300 { #expect((0...255).contains(sizes.size(of: count) - count), "\(nominal) \(count)") }
        }
    }

    @Test(arguments: [1, 79, 80, 81, 300])
    func aReceiverTakesThePaddingOff(count: Int) throws {
        let payload = [UInt8](repeating: 9, count: count)
        let header = RTPHeader(
            marker: true, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: 1),
            timestamp: RTPTimestamp(rawValue: 2), ssrc: SSRC(3))
        let sizes = PaddedSizes(nominal: 60)
        let packet = [UInt8](capacity: 1500) {
            header.write(into: &$0)
            for byte in payload { $0.append(byte) }
            sizes.pad(&$0, payload: count)
        }
        #expect(packet.count == 12 + sizes.size(of: count))
        let read = try RTPHeader(parsing: packet.span)
        #expect(Array(packet[read.payload]) == payload)
        #expect(read.sequenceNumber == header.sequenceNumber && read.marker)
    }

    @Test func withoutRoomThereIsLessPadding() throws {
        let packet = [UInt8](capacity: 20) {
            RTPHeader(
                marker: true, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: 1),
                timestamp: RTPTimestamp(rawValue: 2), ssrc: SSRC(3)
            ).write(into: &$0)
            $0.append(5)
            PaddedSizes(nominal: 60).pad(&$0, payload: 1)
        }
        #expect(packet.count == 20)
        #expect(try RTPHeader(parsing: packet.span).payload == 12..<13)
    }
}
