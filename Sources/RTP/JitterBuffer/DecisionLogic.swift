package import TenfourAudioCore

/// The decision on the next audio, computed only from the position of playout and the head of the queue.
package enum DecisionLogic: Equatable, Sendable {
    /// Decode the head of the queue, which is due; its first `skipping` frames were concealed already.
    case decode(skipping: FrameCount)
    /// Recover the missing frames before the head of the queue from the head's in-band FEC.
    case recover(FrameCount)
    /// Conceal this number of frames, which were lost.
    case conceal(FrameCount)
    /// Conceal this number of frames because the queue is empty. The position stays the same until the next packet
    /// shows which audio was missing.
    case underrun(FrameCount)
    /// Play silence until a packet is as old as the target delay: the talkspurt is over, or the link is down.
    case buffer

    /// The state of the queue and of playout from which a decision follows.
    package struct Situation: Sendable {
        /// The position of the next frame, in the talker's time.
        package var position: FrameCount
        /// The sequence number of the packet that was decoded last.
        package var sequence: Int64
        /// The duration of the packet that was decoded last or, at the start of a talkspurt, of its first packet.
        package var frameCount: FrameCount
        /// The number of frames concealed since the queue became empty.
        package var underrun: FrameCount
        /// The duration of concealment after which an empty queue means silence.
        package var longestUnderrun: FrameCount

        @_noAllocation @_noLocks
        package init(
            position: FrameCount, sequence: Int64, frameCount: FrameCount, underrun: FrameCount,
            longestUnderrun: FrameCount = DecisionLogic.longestUnderrun
        ) {
            self.longestUnderrun = longestUnderrun
            self.position = position
            self.sequence = sequence
            self.frameCount = frameCount
            self.underrun = underrun
        }
    }

    /// The maximum duration of concealment while the queue is empty: 200 ms. The concealment of Opus has faded out by
    /// then, and bursts of ten lost packets are bridged. After it playout falls silent.
    package static var longestUnderrun: FrameCount { @_noAllocation @_noLocks get { FrameCount(9_600) } }
    /// The unit of Opus concealment, in frames: 2.5 ms.
    private static var step: Int { 120 }
    /// The maximum duration that one decision conceals: 20 ms. A longer loss is concealed by several decisions.
    private static var longestConcealment: FrameCount { FrameCount(960) }
    /// The unit in which the SILK mode of Opus conceals: 10 ms. A shorter concealment would shift SILK's state against
    /// the audio.
    private static var shortestSILK: FrameCount { FrameCount(480) }

    @_noAllocation @_noLocks
    package init(_ now: Situation, head: PacketQueue.Entry?) {
        guard let head else {
            self = now.underrun >= now.longestUnderrun ? .buffer : .underrun(min(now.frameCount, Self.shortestSILK))
            return
        }
        let gap = head.start - now.position
        if gap <= .zero {
            self = .decode(skipping: .zero - gap)
        } else if head.sequence == now.sequence + 1 {
            self = .buffer
        } else if head.carriesFEC, gap <= head.frameCount, gap.rawValue % Self.step == 0 {
            self = .recover(gap)
        } else {
            let before = head.carriesFEC && gap > head.frameCount ? gap - head.frameCount : gap
            let whole = FrameCount((before.rawValue + Self.step - 1) / Self.step * Self.step)
            self = .conceal(min(whole, min(max(now.frameCount, FrameCount(Self.step)), Self.longestConcealment)))
        }
    }
}
