import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import TenfourSession
import TestSupport

/// Plays what a member has heard, as its card does: each SSRC has a jitter buffer.
struct Playback {
    /// The payloads that were decoded.
    private(set) var payloads: Set<[UInt8]> = []

    private static let period = 240

    init(of heard: [HeardPacket], until end: Instant) throws {
        for (ssrc, packets) in Dictionary(grouping: heard, by: \.packet.ssrc) {
            try play(packets, of: ssrc, until: Self.position(at: end))
        }
    }

    private mutating func play(_ packets: [HeardPacket], of ssrc: SSRC, until end: Int) throws {
        var buffer = try JitterBuffer(format: LPCMFormat(rate: .opus, channelCount: 1))
        buffer.begin(ssrc)
        var decoder = RecordingDecoder { _ in FrameCount(960) }
        var output = [Float](repeating: 0, count: Self.period)
        var next = 0
        for position in stride(from: 0, to: end, by: Self.period) {
            while next < packets.count, Self.position(at: packets[next].at) <= position {
                let packet = packets[next].packet
                let info = PacketInfo(
                    sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
                    frameCount: packet.description.frameCount, startsTalkspurt: packet.marker)
                let payload = packets[next].payload
                buffer.insert(payload.span, info, arrivedAt: FrameCount(Self.position(at: packets[next].at)))
                next += 1
            }
            _ = decoder.pull(Self.period, from: &buffer, at: FrameCount(position), into: &output)
            for call in decoder.takeCalls() { if case .decode(let payload) = call { payloads.insert(payload) } }
        }
    }

    private static func position(at moment: Instant) -> Int { Int(moment.nanoseconds / 1_000 * 48 / 1_000) }
}
