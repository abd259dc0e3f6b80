import TenfourAudioCore
import TenfourPackets
import TenfourTransmissions

/// A talker whose packets of 20 ms all differ.
struct SimulatedSpeaker {
    struct Sent {
        var payload: [UInt8]
        var packet: ReceivedPacket
    }

    private var packet: ReceivedPacket
    private var count = 0
    private let byteCount: Int

    init(_ ssrc: UInt32, sequenceNumber: UInt16 = 65_500, timestamp: UInt32 = 4_294_960_000, byteCount: Int = 80) {
        packet = ReceivedPacket(
            ssrc: SSRC(ssrc), sequenceNumber: SequenceNumber(rawValue: sequenceNumber),
            timestamp: RTPTimestamp(rawValue: timestamp), frameCount: FrameCount(960))
        self.byteCount = byteCount
    }

    /// Returns the next packet, an Opus packet of 20 ms with its number in the audio.
    mutating func next(encoding: AudioEncoding = .opus) -> Sent {
        let number = (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
        var payload = [9 << 3, UInt8(truncatingIfNeeded: packet.ssrc.rawValue)] + number
        payload += [UInt8](repeating: 7, count: max(byteCount - payload.count, 0))
        return next(payload, encoding: encoding)
    }

    /// Returns the next packet with a given payload.
    mutating func next(_ payload: [UInt8], encoding: AudioEncoding = .opus) -> Sent {
        defer {
            packet.sequenceNumber = packet.sequenceNumber.advanced(by: 1)
            skip(.milliseconds(20))
            count += 1
        }
        packet.encoding = encoding
        return Sent(payload: payload, packet: packet)
    }

    /// Lets the talker's clock run on without packets.
    mutating func skip(_ time: Duration) { packet.timestamp = packet.timestamp.advanced(by: FrameCount(time)) }
}
