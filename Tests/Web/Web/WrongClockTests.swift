import TenfourAudioCore
import TenfourPackets
import TenfourSession
import TenfourWeb
import TestSupport
import Testing

/// A sender of Opus whose timestamps do not count at 48 000 Hz, from its datagrams to the live stream.
struct WrongClockTests {
    /// Packets of 20 ms, whose timestamps advance by `step`, for ten seconds.
    @Test(arguments: [160, 320, 480, 960] as [UInt32]) func allOfItIsHeardAtItsPace(step: UInt32) {
        var scene = Scene()
        var session = RTPSession(
            identity: Identity(ssrc: SSRC(1), seed: 1), configuration: RTPSessionConfiguration(), at: .start)
        let sender = Endpoint(.v4(0xC000_0201), port: 5_004)
        var payloads: [[UInt8]] = []
        for number in 0..<500 {
            let payload: [UInt8] = [9 << 3, UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
            payloads.append(payload)
            let datagram = [UInt8](capacity: 12 + payload.count) { datagram in
                RTPHeader(
                    marker: number == 0, payloadType: 111,
                    sequenceNumber: SequenceNumber(rawValue: 65_400).advanced(by: number),
                    timestamp: RTPTimestamp(rawValue: .max - 9_000 &+ UInt32(number) &* step), ssrc: SSRC(9)
                ).write(into: &datagram)
                for byte in payload { datagram.append(byte) }
            }
            if case .media(let packet) = session.receive(datagram.span, from: sender, at: scene.now) {
                scene.timeline.insert(
                    payload.span, from: packet.ssrc, packet.sequenceNumber, packet.timestamp, marker: packet.marker,
                    at: scene.now)
            }
            scene.run(for: .milliseconds(20))
        }
        scene.run(for: .milliseconds(400))
        // The first packets may wait for proof of their source.
        #expect(scene.audio.count >= 495 && scene.audio == Array(payloads.suffix(scene.audio.count)))
        #expect(scene.count(.concealment) == 0 && scene.isGapless)
    }
}
