import TenfourAudioCore
import TenfourPackets
import TenfourWeb

/// Feeds a live timeline with steps of sixteen bytes, each a packet of one of 24 talkers, and packs what it puts out.
func feedLive(_ bytes: Span<UInt8>) {
    var timeline = LiveTimeline(at: .start)
    let (ogg, webM) = (OggMuxer(serial: 1, title: "fuzz"), WebMMuxer(title: "fuzz"))
    var (now, end) = (Instant.start, FrameCount.zero)
    for start in stride(from: 0, to: bytes.count - 15, by: 16) {
        let kind = bytes[start]
        let ssrc = SSRC(UInt32(bytes[start + 1] % 24))
        // Each second packet continues the talker's stream, more or less.
        var (sequence, timestamp) = (bytes.uint16(at: start + 2), bytes.uint32(at: start + 4))
        if kind & 1 == 0 {
            sequence = UInt16(truncatingIfNeeded: start / 16) &+ sequence & 7
            timestamp = UInt32(truncatingIfNeeded: start / 16 * 960) &+ (timestamp & 7) * 480
        }
        if kind & 0xE0 == 0xE0 { timeline.leave(ssrc) }
        timeline.insert(
            bytes.extracting((start + 9)..<(start + 9 + Int(bytes[start + 8] % 8))), from: ssrc,
            SequenceNumber(rawValue: sequence), RTPTimestamp(rawValue: timestamp), marker: kind & 2 != 0,
            isOriginal: kind & 12 != 0, at: now)
        let pause = Int(bytes[start + 15]) * (kind & 16 == 0 ? 200 : 40_000)
        now = now + .microseconds(pause)
        var packets: [LivePacket] = []
        timeline.advance(to: now) { packets.append($0) }
        // After a pause of more than five seconds, what is too old is skipped.
        if pause > 5_000_000 { end = max(end, packets.first?.start ?? timeline.cursor) }
        check(packets, &end)
        precondition(end == timeline.cursor)
        precondition(timeline.cursor.duration() - (now - .start) <= .milliseconds(120))
        precondition(timeline.others.count < 16)
        if packets.isEmpty { continue }
        precondition(ogg.append(packets).starts(with: Array("OggS".utf8)))
        precondition(webM.append(packets).starts(with: [0x1F, 0x43, 0xB6, 0x75]))
    }
}

/// Checks that each packet begins where the one before it ended, and is as long as its payload says.
private func check(_ packets: [LivePacket], _ end: inout FrameCount) {
    for packet in packets {
        guard let opus = try? OpusPacket(parsing: packet.payload.span) else { preconditionFailure("not Opus") }
        precondition(packet.start == end && opus.frameCount == packet.frameCount)
        end = packet.end
    }
}
