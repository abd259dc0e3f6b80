import Glibc

/// Calls `send` for each packet of each stream when it is due: 50 packets a second for each stream, never two streams
/// at the same time. For each stream, calls `pause` once a second, midway between two packets.
func talk(
    streams: Int, packets: Int, pause: (_ stream: Int) -> Void = { _ in }, send: (_ stream: Int, _ number: Int) -> Void
) {
    let slot: Int64 = 20_000_000 / Int64(2 * streams)
    var due = time(CLOCK_MONOTONIC) + 20_000_000
    for number in 0..<packets {
        for stream in 0..<streams {
            sleep(until: due)
            send(stream, number)
            sleep(until: due + slot)
            let other = (stream + streams / 2) % streams
            if (number + other) % 50 == 25 { pause(other) }
            due += 2 * slot
        }
    }
}

/// Writes an RTP packet of 112 bytes with the stream number as SSRC and the current time after the header.
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
