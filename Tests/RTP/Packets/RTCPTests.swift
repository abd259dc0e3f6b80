import TenfourAudioCore
import TenfourPackets
import Testing

struct RTCPTests {
    /// RFC 3550 figure 2.
    @Test func theRoundTripOfTheStandardsOwnExample() {
        let block = block(
            lastSenderReport: ShortNTPTime(rawValue: 0xB705_2000),
            delay: .seconds(5) + .milliseconds(250))
        let now = NTPTime(rawValue: 0xB44D_B710_8000_0000)
        #expect(block.roundTrip(receivedAt: now) == .milliseconds(6125))
    }

    @Test func aRoundTripIsUnknownBeforeTheFirstReport() {
        #expect(block(lastSenderReport: nil, delay: .zero).roundTrip(receivedAt: NTPTime(rawValue: 1 << 40)) == nil)
    }

    @Test func aRoundTripCrossesTheWrapOfTheShortClock() {
        let block = block(lastSenderReport: ShortNTPTime(rawValue: 0xFFFF_8000), delay: .zero)
        #expect(block.roundTrip(receivedAt: NTPTime(rawValue: 0x0001_0000_8000_0000)) == .seconds(1))
    }

    @Test func aPeerThatClaimsToHaveWaitedLongerIsNotBelieved() {
        let block = block(lastSenderReport: ShortNTPTime(rawValue: 0x0001_0000), delay: .seconds(3))
        #expect(block.roundTrip(receivedAt: NTPTime(rawValue: 0x0002_0000_0000)) == .zero)
    }

    @Test func wallClocksBecomeNTP() {
        #expect(NTPTime(secondsSince1970: 0).rawValue == 0x83AA_7E80_0000_0000)
        #expect(NTPTime(secondsSince1970: 0, nanoseconds: 500_000_000).rawValue == 0x83AA_7E80_8000_0000)
        #expect(NTPTime(secondsSince1970: 2_085_978_496).rawValue == 0)  // 7 February 2036
        #expect(NTPTime(secondsSince1970: -1, nanoseconds: 999_999_999).rawValue == 0x83AA_7E7F_FFFF_FFFB)
        #expect(NTPTime(rawValue: 0x0123_4567_89AB_CDEF).short == ShortNTPTime(rawValue: 0x4567_89AB))
    }

    @Test func wallClocksGoOnWithTheMonotonicOne() {
        let start = NTPTime(secondsSince1970: 0, nanoseconds: 750_000_000)
        #expect(start.advanced(by: .milliseconds(500)).rawValue == 0x83AA_7E81_4000_0000)
        #expect(start.advanced(by: .milliseconds(-1000)).rawValue == 0x83AA_7E7F_C000_0000)
        #expect(start.advanced(by: .seconds(Int64.max / 2)).advanced(by: .seconds(-Int64.max / 2)) == start)
    }

    @Test func aBrokenPacketIsPassedOver() throws {
        let report = ReceiverReport(ssrc: SSRC(1))
        let brokenGoodbye: [UInt8] = [0x82, 203, 0, 1, 0, 0, 0, 1]
        let goodbye = Goodbye(sources: [SSRC(1)], reason: "späti")
        let datagram = [UInt8](capacity: 100) {
            report.write(into: &$0)
            for byte in brokenGoodbye { $0.append(byte) }
            goodbye.write(into: &$0)
        }
        var packets = try RTCPCompound(parsing: datagram.span)
        let first = try packets.next()
        #expect(first == .receiverReport(report))
        var reason: RTCPParseError?
        do { _ = try packets.next() } catch { reason = error }
        #expect(reason == .malformed(type: 203))
        let third = try packets.next()
        #expect(third == .goodbye(goodbye))
        let fourth = try packets.next()
        #expect(fourth == nil)
    }

    @Test func aReportHasRoomForThirtyOneBlocks() throws {
        let blocks = (0..<40).map { block(ssrc: SSRC($0), lastSenderReport: nil, delay: .zero) }
        let report = ReceiverReport(ssrc: SSRC(1), blocks: blocks)
        let datagram = [UInt8](capacity: report.byteCount) { report.write(into: &$0) }
        var packets = try RTCPCompound(parsing: datagram.span)
        let packet = try packets.next()
        #expect(packet == .receiverReport(ReceiverReport(ssrc: SSRC(1), blocks: Array(blocks.prefix(31)))))
    }

    @Test func aLongNameIsCutBetweenLetters() {
        let name = "x" + String(repeating: "ü", count: 200)
        let item = SourceDescription.Item(.name, name)
        #expect(item.value.count == 255)
        #expect(item.text == "x" + String(repeating: "ü", count: 127))
        let odd = SourceDescription.Item(.name, String(repeating: "ü", count: 200))
        #expect(odd.value.count == 254)
    }

    @Test func numbersBeyondTheirFieldsAreKeptWithin() throws {
        var block = block(lastSenderReport: nil, delay: .seconds(100_000))
        block.cumulativeLost = 9_000_000
        block.jitter = FrameCount(-1)
        let report = ReceiverReport(ssrc: SSRC(1), blocks: [block])
        let datagram = [UInt8](capacity: report.byteCount) { report.write(into: &$0) }
        var packets = try RTCPCompound(parsing: datagram.span)
        guard case .receiverReport(let read) = try packets.next() else {
            Issue.record("a receiver report was written")
            return
        }
        #expect(read.blocks[0].cumulativeLost == 0x7F_FFFF)
        #expect(read.blocks[0].jitter == .zero)
        #expect(read.blocks[0].delaySinceLastSenderReport > .seconds(65_535))
    }

    @Test func secondBytesTellRTCPFromRTP() {
        let claimed = (UInt8.min...UInt8.max).filter { RTCPCompound.isRTCP(secondByte: $0) }
        #expect(claimed == Array(192...223))
        #expect(!RTCPCompound.isRTCP(secondByte: RTPDefaults.opusPayloadType))
        #expect(!RTCPCompound.isRTCP(secondByte: RTPDefaults.opusPayloadType | 0x80))
    }

    private func block(ssrc: SSRC = SSRC(9), lastSenderReport: ShortNTPTime?, delay: Duration) -> ReportBlock {
        ReportBlock(
            ssrc: ssrc, fractionLost: 0, cumulativeLost: 0, extendedHighestSequenceNumber: 0, jitter: .zero,
            lastSenderReport: lastSenderReport, delaySinceLastSenderReport: delay)
    }
}
