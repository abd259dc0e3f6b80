import TenfourJitterBuffer
import TenfourPackets
import TenfourSession
import TenfourSystem
import TestSupport
import Testing

@testable import TenfourRadio

/// The network thread's work, on the thread of the test. Ten packets wait in the socket before it begins.
@Suite(.onItsOwnThread) struct NetworkLoopTests {
    @Test func packetsThatFindThePlaybackQueueFullAreCounted() throws {
        let incoming = RingBuffer(capacity: 4, filler: IncomingPacket())
        let snapshot = try snapshot(incoming.producer)
        // Messages about the source go through the same queue.
        #expect(snapshot.playbackQueueDropCount >= 6)
    }

    @Test func packetsThatWaitedInTheSocketAreMarked() throws {
        let incoming = RingBuffer(capacity: 64, filler: IncomingPacket())
        _ = try snapshot(incoming.producer)
        var packet = IncomingPacket()
        var waiting: [Bool] = []
        while incoming.consumer.pop(into: &packet) { if packet.news == nil { waiting.append(packet.info.hasWaited) } }
        #expect(waiting == [Bool](repeating: true, count: 10))
    }

    private func snapshot(_ incoming: consuming RingBufferProducer<IncomingPacket>) throws -> RadioSnapshot {
        let outgoing = RingBuffer(capacity: 4, filler: OutgoingPacket())
        let state = RadioState()
        let network = try NetworkLoop(
            RadioConfiguration(local: Endpoint(.loopbackV4, port: 0), rtpSession: RTPSessionConfiguration()),
            Controls(isMicrophoneOpen: true, isConnected: true), state,
            limits: .init(duration: .milliseconds(300), endsWithLastSource: false, endsWithInput: false),
            incoming: incoming, outgoing: outgoing.consumer, captured: nil, played: nil)
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
        return try #require(state.snapshot)
    }
}
