import Glibc

/// Calls `send` for each packet of each stream when it is due: 50 a second, no two streams at once.
func talk(streams: Int, packets: Int, send: (_ stream: Int, _ number: Int) -> Void) {
    let interval: Int64 = 20_000_000
    let start = time(CLOCK_MONOTONIC) + interval
    for number in 0..<packets {
        for stream in 0..<streams {
            sleep(until: start + Int64(number) * interval + Int64(stream) * interval / Int64(streams))
            send(stream, number)
        }
    }
}

/// RTP of 112 bytes with the stream in the SSRC, and the moment behind the header.
func writePacket(_ stream: Int, _ number: Int, into packet: inout OutputSpan<UInt8>) {
    packet.append(0x80)
    packet.append(111)
    append(UInt64(number), byteCount: 2, to: &packet)
    append(UInt64(number) * 960, byteCount: 4, to: &packet)
    append(UInt64(stream), byteCount: 4, to: &packet)
    append(UInt64(time(CLOCK_REALTIME)), byteCount: 8, to: &packet)
    packet.append(repeating: 0, count: 92)
}

private func append(_ number: UInt64, byteCount: Int, to packet: inout OutputSpan<UInt8>) {
    for place in (0..<byteCount).reversed() { packet.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(place)))) }
}
