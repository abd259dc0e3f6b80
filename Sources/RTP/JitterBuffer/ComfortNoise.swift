internal import TenfourAudioCore

// A talker with discontinuous transmission (DTX) sends the background noise only about twice a second, and before each
// gap a packet without audio. The decoder continues the noise until the next packet.

extension PlayoutOperation {
    /// Plays comfort noise in place of `silence` if the packet `next`, which continues the noise, is not yet as old as
    /// the target delay. A pause that is shorter than the decoder's unit of 480 frames stays silent.
    @_noAllocation @_noLocks
    static func pause(of silence: FrameCount, after last: DecodedPacket?, before next: PacketQueue.Entry?) -> Self {
        let unit = FrameCount(480)
        guard let last, last.isDiscontinuous, next != nil, silence >= unit else { return .silence(silence) }
        return .conceal(unit)
    }
}

extension DecisionLogic {
    /// The maximum duration of comfort noise without a packet: 1 s.
    private static var longestComfortNoise: FrameCount { FrameCount(48_000) }

    /// The maximum duration of concealment after the packet `last`.
    @_noAllocation @_noLocks
    static func longestUnderrun(after last: DecodedPacket?) -> FrameCount {
        guard let last, last.isDiscontinuous else { return longestUnderrun }
        return longestComfortNoise
    }
}
