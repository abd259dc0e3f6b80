package import TenfourAudioCore

/// What to play next, from where playout stands and what the queue holds: a pure function of both.
package enum DecisionLogic: Equatable, Sendable {
    /// The head is due; its first `skipping` frames were concealed already.
    case decode(skipping: FrameCount)
    /// What is missing before the head lies in it as in-band FEC.
    case recover(FrameCount)
    /// It is lost: make up so much of it.
    case conceal(FrameCount)
    /// There is nothing to play: make up so much, and stay where playout stands until it is known what was missing.
    case underrun(FrameCount)
    /// The talkspurt is over, or the link is down: fall silent until there is a packet to begin with.
    case buffer

    /// What a decision rests on.
    package struct Situation: Sendable {
        /// What sounds next, in the talker's time.
        package var position: FrameCount
        /// The packet last decoded, and its length.
        package var sequence: Int64
        package var frameCount: FrameCount
        /// How long there has been nothing to play.
        package var underrun: FrameCount

        @_noAllocation @_noLocks
        package init(position: FrameCount, sequence: Int64, frameCount: FrameCount, underrun: FrameCount) {
            self.position = position
            self.sequence = sequence
            self.frameCount = frameCount
            self.underrun = underrun
        }
    }

    /// 200 ms: Opus' concealment has faded away by then, and bursts of ten lost packets are bridged.
    package static var longestUnderrun: FrameCount { FrameCount(9_600) }
    /// Opus conceals in multiples of 2.5 ms, 20 ms at the most.
    private static var step: Int { 120 }
    private static var longestConcealment: FrameCount { FrameCount(960) }
    /// SILK conceals in whole 10 ms, so shorter pieces would shift its state against the sound.
    private static var shortestSILK: FrameCount { FrameCount(480) }

    @_noAllocation @_noLocks
    package init(_ now: Situation, head: PacketQueue.Entry?) {
        guard let head else {
            self = now.underrun >= Self.longestUnderrun ? .buffer : .underrun(min(now.frameCount, Self.shortestSILK))
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
