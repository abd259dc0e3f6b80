internal import TenfourAudioCore

/// Accounts for the time in which the queue was empty, until the next packet shows the reason: lost packets, late
/// packets or a pause of the talker.
///
/// An underrun has two parts. First audio is concealed. After `DecisionLogic.longestUnderrun` playout falls silent and
/// buffers until a packet is as old as the target delay.
struct Underrun: BitwiseCopyable, Sendable {
    /// The number of frames concealed since the queue became empty.
    private(set) var concealed = FrameCount.zero
    /// The time at which playout fell silent; nil while it plays. It is a time and not a count of silent frames,
    /// because the card may request nothing while playout is silent.
    private(set) var bufferingSince: FrameCount?

    @_noAllocation @_noLocks
    init() {}

    /// Records that `frames` were concealed while the queue was empty.
    @_noAllocation @_noLocks
    mutating func conceal(_ frames: FrameCount) { concealed += frames }

    /// Removes `frames` from `concealed`, because they are counted elsewhere or were removed before they were heard.
    @_noAllocation @_noLocks
    mutating func accountFor(_ frames: FrameCount) { concealed -= min(frames, concealed) }

    /// Records that playout falls silent at `now`.
    @_noAllocation @_noLocks
    mutating func beginBuffering(at now: FrameCount) { bufferingSince = now }

    /// Records that the talkspurt begins `frames` before its first packet, with recovered audio. This duration is not
    /// silence.
    @_noAllocation @_noLocks
    mutating func advanceBuffering(by frames: FrameCount) { bufferingSince = bufferingSince.map { $0 + frames } }

    /// Returns the duration of missing audio before `packet`, which is decoded at `now`; zero if the talker paused.
    /// Audio that was counted before is left out. `last` is the packet decoded before this one; `queuedCount` packets
    /// are queued behind it.
    @_noAllocation @_noLocks
    func missing(
        before packet: PacketQueue.Entry, after last: DecodedPacket?, queuedCount: Int, at now: FrameCount
    ) -> FrameCount {
        let buffered = bufferingSince.map { max(now - $0, .zero) } ?? .zero
        guard let last else { return .zero }
        if packet.sequence == last.sequence + 1 {
            guard packet.start <= last.end else { return .zero }
            // Counts the silence as missing audio: the timestamps continue without a gap, so a stall has held back the
            // packets. Counts no more than the duration of the packets that have arrived since, because some senders
            // stop their timestamps in a pause.
            return concealed + min(buffered, FrameCount((queuedCount + 1) * packet.frameCount.rawValue))
        }
        // Computes the duration of the packets that were sent and lost, from the sequence numbers.
        let lost = FrameCount(Int(packet.sequence - last.sequence - 1) * packet.frameCount.rawValue)
        // Checks for a pause. If the timestamps have advanced by more than the lost packets, the talker paused, and the
        // concealed audio replaced no packet.
        let isPause = packet.start - last.end > lost
        return max(isPause ? .zero : concealed, min(concealed + buffered, lost))
    }
}

/// The packet that was decoded last, on the unwrapped timeline of its talker.
struct DecodedPacket: BitwiseCopyable, Sendable {
    var sequence: Int64
    /// The position at which the packet's audio ends.
    var end: FrameCount
    var frameCount: FrameCount
    /// Whether the packet begins or continues a pause in which the talker sends only the background noise, about twice
    /// a second (DTX): Opus codes no audio in two bytes or fewer.
    var isDiscontinuous: Bool

    @_noAllocation @_noLocks
    init(_ packet: PacketQueue.Entry) {
        isDiscontinuous = packet.encoding == .opus && packet.byteCount <= 2
        sequence = packet.sequence
        end = packet.end
        frameCount = packet.frameCount
    }
}
