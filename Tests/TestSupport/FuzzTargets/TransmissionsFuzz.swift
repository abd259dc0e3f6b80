import TenfourAudioCore
import TenfourOggOpus
import TenfourPackets
import TenfourTransmissions
import TestSupport

/// Feeds the bytes as the beginning and as the end of a recording, with correct checksums.
func feedRecording(_ bytes: Span<UInt8>) {
    let file = repairedOgg(bytes.indices.map { bytes[$0] })
    guard var summary = try? OggOpusSummary(parsing: file.span) else { return }
    summary.readEnd(file.span)
    precondition((1...2).contains(summary.identification.channelCount))
    precondition((0...65_535).contains(summary.identification.preSkip.rawValue))
    precondition((summary.duration ?? .zero) >= .zero && (summary.end ?? FrameCount(1)) > .zero)
    for comment in summary.comments.comments {
        checkShown(comment.name)
        checkShown(comment.value)
    }
    let written = summary.comments.bytes()
    let again = try? OpusComments(parsing: written.span)
    precondition(again?.comments.count == summary.comments.comments.count)
}

/// Feeds a history with steps of sixteen bytes, each a packet of one of four talkers, and replays it.
func feedTransmissions(_ bytes: Span<UInt8>) {
    var history = TransmissionHistory(byteCount: 4_096)
    var now = Instant.start
    for start in stride(from: 0, to: bytes.count - 15, by: 16) {
        let kind = bytes[start]
        var (sequence, timestamp) = (bytes.uint16(at: start + 2), bytes.uint32(at: start + 4))
        if kind & 1 == 0 {
            // Each second packet continues the talker's stream, more or less.
            sequence = UInt16(truncatingIfNeeded: start / 16) &+ sequence & 7
            timestamp = UInt32(truncatingIfNeeded: start / 16 * 960) &+ (timestamp & 7) * 480
        }
        let packet = ReceivedPacket(
            ssrc: SSRC(UInt32(bytes[start + 1] % 4)), sequenceNumber: SequenceNumber(rawValue: sequence),
            timestamp: RTPTimestamp(rawValue: timestamp), frameCount: FrameCount(120 << Int(kind >> 1 & 3)),
            encoding: AudioEncoding(rawValue: kind >> 3 & 3) ?? .opus,
            origin: PacketOrigin(rawValue: kind >> 6) ?? .original)
        history.insert(bytes.extracting((start + 9)..<(start + 9 + Int(bytes[start + 8] % 8))), packet, at: now)
        now = now + .microseconds(Int(bytes[start + 15]) * 10_000)
    }
    for replay in [history.lastTransmission(at: now), history.last(at: now)].compactMap(\.self) {
        precondition(replay.transmissionCount >= 1 && replay.duration <= .seconds(1_200))
        let kept = replay.packets.count { if case .audio = $0.content { true } else { false } }
        precondition(kept * 24 <= 4_096)
        for packet in replay.packets {
            precondition(packet.frameCount > .zero && packet.frameCount <= FrameCount(48_000))
            if case .audio = packet.content { precondition(!replay.payload(of: packet).isEmpty) }
        }
    }
}
