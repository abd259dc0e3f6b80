internal import TenfourAudioCore

/// Accounts for the time in which the queue was empty, until the next packet tells what that time was: lost packets, late packets
/// or a pause of the talker.
///
/// An underrun has two parts. First audio is concealed. After `DecisionLogic.longestUnderrun` playout falls silent and buffers until
/// a packet is old enough to begin a talkspurt with.
struct Underrun: BitwiseCopyable, Sendable {
    /// How much was concealed since the queue ran empty.
    private(set) var concealed = FrameCount.zero
    /// When playout fell silent; nil while it plays. The card may request nothing meanwhile.
    private(set) var bufferingSince: FrameCount?

    @_noAllocation @_noLocks
    init() {}

    /// `frames` were concealed with nothing in the queue.
    @_noAllocation @_noLocks
    mutating func conceal(_ frames: FrameCount) { concealed += frames }

    /// `frames` of what was concealed are accounted for, or were withdrawn before they were heard.
    @_noAllocation @_noLocks
    mutating func settle(_ frames: FrameCount) { concealed -= min(frames, concealed) }

    /// Playout falls silent at `now`.
    @_noAllocation @_noLocks
    mutating func beginBuffering(at now: FrameCount) { bufferingSince = now }

    /// The talkspurt begins `frames` before the first packet: this time is not silence.
    @_noAllocation @_noLocks
    mutating func advanceBuffering(by frames: FrameCount) { bufferingSince = bufferingSince.map { $0 + frames } }

    /// How much was missing before `packet`, which is decoded at `now`, and was not counted before; zero where the talker paused.
    /// `last` is the packet decoded before it, and `queuedCount` the number of packets behind it.
    @_noAllocation @_noLocks
    func missing(
        before packet: PacketQueue.Entry, after last: DecodedPacket?, queuedCount: Int, at now: FrameCount
    ) -> FrameCount {
        let buffered = bufferingSince.map { max(now - $0, .zero) } ?? .zero
        guard let last else { return .zero }
        if packet.sequence == last.sequence + 1 {
            guard packet.start <= last.end else { return .zero }
            // The timestamps go on without a gap: a stall, as long as the packets that came after it. Some senders stop their
            // timestamps in a pause.
            return concealed + min(buffered, FrameCount((queuedCount + 1) * packet.frameCount.rawValue))
        }
        // The sequence numbers tell how much was sent and lost.
        let lost = FrameCount(Int(packet.sequence - last.sequence - 1) * packet.frameCount.rawValue)
        // Where the timestamps went on for longer the talker paused, and what was concealed then stands for nothing.
        let isPause = packet.start - last.end > lost
        return max(isPause ? .zero : concealed, min(concealed + buffered, lost))
    }
}

/// The packet that was decoded last, on the unwrapped timeline of its talker.
struct DecodedPacket: BitwiseCopyable, Sendable {
    var sequence: Int64
    /// Where its audio ends.
    var end: FrameCount
    var frameCount: FrameCount

    @_noAllocation @_noLocks
    init(_ packet: PacketQueue.Entry) {
        sequence = packet.sequence
        end = packet.end
        frameCount = packet.frameCount
    }
}
