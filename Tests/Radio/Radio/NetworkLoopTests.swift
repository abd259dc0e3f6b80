import TenfourPackets
import TenfourRings
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRadio

/// The network thread's work, on the thread of the test.
@Suite(.onItsOwnThread) struct NetworkLoopTests {
    @Test func packetsThatFindThePlaybackQueueFullAreCounted() throws {
        let incoming = RingBuffer(capacity: 4, filler: IncomingPacket())
        let outgoing = RingBuffer(capacity: 4, filler: OutgoingPacket())
        let state = RadioState()
        let network = try NetworkLoop(
            RadioConfiguration(local: Endpoint(.loopbackV4, port: 0), rtpSession: RTPSessionConfiguration()),
            Controls(isMicrophoneOpen: true, isConnected: true), state,
            limits: .init(duration: .milliseconds(300), endsWithLastSource: false, endsWithInput: false),
            incoming: incoming.producer, outgoing: outgoing.consumer, captured: nil, played: nil)
        let talker = PlainSocket()
        for number: UInt16 in 0..<10 {
            let packet = [UInt8](capacity: 100) { packet in
                RTPHeader(
                    marker: number == 0, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
                    timestamp: RTPTimestamp(rawValue: UInt32(number) * 960), ssrc: SSRC(9)
                ).write(into: &packet)
                for byte in [0xF8, 1, 2] as [UInt8] { packet.append(byte) }
            }
            talker.send(packet, toPort: network.localEndpoint.port)
        }
        network.run()
        let snapshot = try #require(state.snapshot)
        // Messages about the source go through the same queue.
        #expect(snapshot.playbackQueueDropCount >= 6)
    }
}
