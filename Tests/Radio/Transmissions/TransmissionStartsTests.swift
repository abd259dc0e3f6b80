import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourTransmissions

/// The packets with which transmissions begin.
struct TransmissionStartsTests {
    private var starts = TransmissionStarts()

    private mutating func begins(
        _ ssrc: UInt32 = 1, marker: Bool = false, byteCount: Int = 60, origin: PacketOrigin = .original, at time: Int
    ) -> Bool {
        let packet = ReceivedPacket(
            ssrc: SSRC(ssrc), sequenceNumber: SequenceNumber(rawValue: 0), timestamp: RTPTimestamp(rawValue: 0),
            frameCount: FrameCount(960), origin: origin)
        let elapsed = Duration.milliseconds(time)
        return starts.insert(packet, byteCount: byteCount, hasMarker: marker, at: .start + elapsed)
    }

    @Test mutating func aTalkersFirstPacketBegins() {
        #expect(begins(at: 0) && begins(2, at: 10))
        #expect(!begins(at: 20) && !begins(2, at: 30))
    }

    @Test mutating func aPauseEndsATransmission() {
        #expect(begins(at: 0) && !begins(at: 999))
        #expect(begins(at: 1_999))
    }

    @Test mutating func theMarkerBeginsOneAfterAShortPause() {
        #expect(begins(at: 0) && !begins(marker: true, at: 99), "a program that marks every packet")
        #expect(!begins(at: 250) && begins(marker: true, at: 350))
    }

    /// Words with pauses between them in which only the noise is sent, every 600 ms, each time before a silent packet.
    @Test mutating func theMarkerAfterSilentPacketsBeginsNothing() {
        #expect(begins(marker: true, at: 0))
        for word in 1...5 {
            #expect(!begins(byteCount: 1, at: 1_500 * word - 1_480), "the pause")
            #expect(!begins(marker: true, at: 1_500 * word - 880), "the noise")
            #expect(!begins(byteCount: 1, at: 1_500 * word - 860))
            #expect(!begins(marker: true, at: 1_500 * word - 400) && !begins(at: 1_500 * word - 380), "the next word")
            #expect(!begins(at: 1_500 * word))
        }
        #expect(begins(marker: true, at: 7_700), "the key was released")
    }

    @Test mutating func silenceAndCopiesBeginNothing() {
        #expect(!begins(byteCount: 2, at: 0) && !begins(origin: .copy, at: 0) && !begins(origin: .retransmitted, at: 0))
        #expect(begins(at: 20))
        for index in 1...100 { #expect(!begins(byteCount: 1, at: 20 * index)) }
        #expect(begins(at: 2_020), "silence is a pause")
    }
}
