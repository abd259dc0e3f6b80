import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourSession

struct LoopDetectorTests {
    private func header(_ number: UInt16) -> RTPHeader {
        RTPHeader(
            marker: false, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
            timestamp: RTPTimestamp(rawValue: UInt32(number) * 960), ssrc: SSRC(9))
    }

    @Test func onePacketOfOursIsALoop() {
        var detector = LoopDetector()
        detector.packetSent(header(65_535))
        #expect(detector.examine(header(65_535), at: .start) == .loop)
        #expect(detector.examine(header(0), at: .start) == .collision(needsNewSSRC: true))
    }

    @Test func theSSRCChangesOnceAMinute() {
        var detector = LoopDetector()
        #expect(detector.examine(header(1), at: .start) == .collision(needsNewSSRC: true))
        #expect(detector.examine(header(2), at: .start + .seconds(59)) == .collision(needsNewSSRC: false))
        #expect(detector.examine(header(3), at: .start + .seconds(60)) == .collision(needsNewSSRC: true))
    }
}
