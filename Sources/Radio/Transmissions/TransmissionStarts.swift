package import TenfourAudioCore
internal import TenfourPackets

/// Finds the packets with which transmissions begin, as they arrive.
///
/// A transmission begins with a talker's first packet with speech after a pause of `TransmissionRule.pause`, or, after a
/// pause of 100 ms or more, with a packet that has the RTP marker. Some programs set the marker in every packet.
package struct TransmissionStarts: Sendable {
    /// The talkers with speech in the last second.
    private var talkers: [Talker] = []

    private struct Talker {
        var ssrc: SSRC
        var lastSpeech: Instant
    }

    /// The shortest pause after which the marker counts.
    private static let shortestPause = Duration.milliseconds(100)
    /// The maximum number of talkers. With more, the transmission of the oldest one seems to begin again.
    private static let capacity = 64

    package init() {}

    /// Whether a packet that has arrived at `now` begins a transmission. Its payload has `byteCount` bytes.
    package mutating func insert(_ packet: ReceivedPacket, byteCount: Int, hasMarker: Bool, at now: Instant) -> Bool {
        guard packet.origin.isOriginal, !packet.isSilent(byteCount: byteCount) else { return false }
        talkers.removeAll { now - $0.lastSpeech >= TransmissionRule.pause }
        guard let index = talkers.firstIndex(where: { $0.ssrc == packet.ssrc }) else {
            if talkers.count == Self.capacity { talkers.removeFirst() }
            talkers.append(Talker(ssrc: packet.ssrc, lastSpeech: now))
            return true
        }
        let pause = now - talkers[index].lastSpeech
        talkers[index].lastSpeech = now
        return hasMarker && pause >= Self.shortestPause
    }
}
