internal import TenfourAudioCore

// A talker of Opus with discontinuous transmission (DTX) sends the background noise only about twice a second, and before each
// gap a packet without audio. The decoder continues the noise until the next packet. A talker of G.711 describes the noise
// in packets of their own (RFC 3389), and the jitter buffer generates it.

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

    /// The maximum duration of concealment after the packet `last`, without a pause that is known (`NoisyPause`).
    @_noAllocation @_noLocks
    static func longestUnderrun(after last: DecodedPacket?) -> FrameCount {
        guard let last, last.isDiscontinuous else { return longestUnderrun }
        return longestComfortNoise
    }
}
