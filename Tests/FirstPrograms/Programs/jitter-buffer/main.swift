import TenfourAudioCore
import TenfourG711Codec
import TenfourJitterBuffer
import TenfourPackets

/// The arrivals of 150 packets, one sent every 20 ms, in frames at 48 000 Hz.
/// The network delays them by 50 to 68 ms.
var arrivals: [(time: FrameCount, packet: Int)] = []
for packet in 0..<150 {
    var delay = Duration.milliseconds(50 + 9 * (packet % 3))
    switch packet {
    case 40: continue  // lost
    case 62: delay = .milliseconds(75)  // overtaken by packet 63
    case 80: delay = .milliseconds(250)  // too late
    default: break
    }
    arrivals.append((FrameCount(960 * packet) + FrameCount(delay), packet))
}
arrivals.sort { $0.time < $1.time }

/// The header fields of a packet of 20 ms.
func header(of packet: Int) -> PacketInfo {
    PacketInfo(
        sequenceNumber: SequenceNumber(rawValue: UInt16(packet)),
        timestamp: RTPTimestamp(rawValue: UInt32(960 * packet)),
        frameCount: FrameCount(960), encoding: .pcma)
}

do {
    var buffer = try JitterBuffer(format: .mono)
    var decoder = try G711Decoder()
    buffer.begin(SSRC(1))
    let payload = [UInt8](repeating: 0xD5, count: 160)  // 20 ms of G.711 A-law
    var output = [Float](repeating: 0, count: 480)
    var newest = 0

    // The card requests 10 ms at a time. Its requests are the clock.
    for position in stride(from: 0, to: 150_000, by: output.count) {
        while let (time, packet) = arrivals.first, time <= FrameCount(position) {
            arrivals.removeFirst()
            let result = buffer.insert(
                payload.span, header(of: packet), arrivedAt: time)
            if case .late(let frames) = result {
                print("packet \(packet) is \(frames.duration()) late")
            } else if packet < newest {
                print("packet \(packet) comes after packet \(newest): \(result)")
            }
            newest = max(newest, packet)
        }
        var samples = output.mutableSpan
        let position = FrameCount(position)
        if buffer.pull(into: &samples, at: position, with: &decoder) {
            // Here a program passes the samples to its card.
        }
    }

    let statistics = buffer.statistics
    print("decoded \(statistics.decoded.duration())")
    print("concealed \(statistics.concealed.duration())")
} catch {
    print(error)
}
