import TenfourAudioCore
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Packets of G.711, whose timestamps count at 8 000 Hz.
struct G711Tests {
    private func datagram(_ type: UInt8, _ number: Int, byteCount: Int = 160) -> [UInt8] {
        [UInt8](capacity: 12 + byteCount) { datagram in
            RTPHeader(
                marker: number == 0, payloadType: type, sequenceNumber: SequenceNumber(rawValue: UInt16(number)),
                timestamp: RTPTimestamp(rawValue: UInt32.max - 200 &+ UInt32(number * 160)), ssrc: SSRC(9)
            ).write(into: &datagram)
            for _ in 0..<byteCount { datagram.append(0xD5) }
        }
    }

    private func receiver(_ types: [UInt8: AudioEncoding]) -> RTPSession {
        RTPSession(
            identity: Identity(ssrc: SSRC(1), seed: 1),
            configuration: RTPSessionConfiguration(acceptedPayloadTypes: types),
            at: .start)
    }

    @Test(arguments: [(0, AudioEncoding.pcmu), (8, .pcma)] as [(UInt8, AudioEncoding)])
    func timestampsComeAt48000HertzAndWithoutABreakAtTheWrap(type: UInt8, encoding: AudioEncoding) throws {
        var session = receiver([111: .opus, 0: .pcmu, 8: .pcma])
        var before: RTPTimestamp?
        for number in 0..<10 {
            let now = Instant.start + .milliseconds(20 * number)
            let datagram = datagram(type, number)
            guard case .media(let packet) = session.receive(datagram.span, from: SimulatedLink.endpoint(0), at: now)
            else {
                Issue.record("packet \(number) is no media")
                return
            }
            #expect(packet.encoding == encoding && packet.description.frameCount == FrameCount(960))
            if let before { #expect(packet.timestamp.distance(after: before) == FrameCount(960)) }
            before = packet.timestamp
        }
        #expect(session.sources.first?.reception.jitter == .zero, "packets come as evenly as their timestamps")
    }

    @Test func unacceptedPayloadTypesAreDiscarded() {
        var session = receiver([111: .opus])
        let datagram = datagram(0, 0)
        #expect(
            session.receive(datagram.span, from: SimulatedLink.endpoint(0), at: .start)
                == .discarded(.unknownPayloadType))
    }

    @Test(arguments: [0, 961]) func aPacketOfNoLengthIsMalformed(byteCount: Int) {
        var session = receiver([0: .pcmu])
        let datagram = datagram(0, 0, byteCount: byteCount)
        #expect(
            session.receive(datagram.span, from: SimulatedLink.endpoint(0), at: .start) == .discarded(.malformedPayload)
        )
    }
}
