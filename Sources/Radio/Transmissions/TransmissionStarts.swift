package import TenfourAudioCore
internal import TenfourPackets

/// Finds the packets with which transmissions begin, as they arrive.
///
/// A transmission begins with a talker's first packet with speech after a pause of `TransmissionRule.pause`, or, after a
/// pause of 100 ms or more, with a packet that has the RTP marker. Some programs set the marker in every packet. A pause
/// that a silent packet has announced (DTX) is none for the marker: the talker is still there, and marks the next word.
package struct TransmissionStarts: Sendable {
    /// The talkers with speech in the last second.
    private var talkers: [Talker] = []

    private struct Talker {
        var ssrc: SSRC
        var lastSpeech: Instant
        /// Whether the last packet was silent.
        var isSilent = false
    }

    /// The shortest pause after which the marker counts.
    private static let shortestPause = Duration.milliseconds(100)
    /// The maximum number of talkers. With more, the transmission of the oldest one seems to begin again.
    private static let capacity = 64

    package init() {}

    /// Whether a packet that has arrived at `now` begins a transmission. Its payload has `byteCount` bytes.
    package mutating func insert(_ packet: ReceivedPacket, byteCount: Int, hasMarker: Bool, at now: Instant) -> Bool {
        guard packet.origin.isOriginal else { return false }
        if packet.isSilent(byteCount: byteCount) {
            for index in talkers.indices where talkers[index].ssrc == packet.ssrc { talkers[index].isSilent = true }
            return false
        }
        talkers.removeAll { now - $0.lastSpeech >= TransmissionRule.pause }
        guard let index = talkers.firstIndex(where: { $0.ssrc == packet.ssrc }) else {
            if talkers.count == Self.capacity { talkers.removeFirst() }
            talkers.append(Talker(ssrc: packet.ssrc, lastSpeech: now))
            return true
        }
        let talker = talkers[index]
        talkers[index] = Talker(ssrc: packet.ssrc, lastSpeech: now)
        return hasMarker && !talker.isSilent && now - talker.lastSpeech >= Self.shortestPause
    }
}
