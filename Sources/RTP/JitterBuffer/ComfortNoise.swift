internal import TenfourAudioCore
internal import TenfourPackets

// A talker of Opus with discontinuous transmission (DTX) sends the background noise only about twice a second, and before each
// gap a packet without audio. The decoder continues the noise until the next packet. A talker of G.711 describes the noise
// in packets of their own (RFC 3389), and the jitter buffer generates it.

extension PlayoutController {
    /// The duration of concealment before comfort noise: 60 ms, in which the concealment of G.711 fades out.
    private static var longestFade: FrameCount { FrameCount(2_880) }

    /// Begins a pause with comfort noise after the audio with the number `begin`. Returns false if a later packet was
    /// played already, or a later pause is known.
    @_noAllocation @_noLocks
    mutating func beginPause(after begin: SequenceNumber) -> Bool {
        if let last, number(last.sequence).distance(after: begin) > 0 { return false }
        if let pauseBegin, pauseBegin.distance(after: begin) > 0 { return false }
        pauseBegin = begin
        return true
    }

    /// Whether the present silence is a pause with comfort noise.
    var isNoisyPause: Bool {
        @_noAllocation @_noLocks get {
            guard let pauseBegin, last != nil else { return false }
            guard let head = queue.head else { return true }
            return number(head.sequence).distance(after: pauseBegin) > 0
        }
    }

    /// The maximum duration of concealment of an empty queue.
    @_noAllocation @_noLocks
    func longestUnderrun() -> FrameCount {
        let longest = DecisionLogic.longestUnderrun(after: last)
        guard let pauseBegin, let last, number(last.sequence).distance(after: pauseBegin) >= 0 else { return longest }
        return min(longest, Self.longestFade)
    }

    /// Ends the pause if `packet` comes after it.
    @_noAllocation @_noLocks
    mutating func endPause(with packet: PacketQueue.Entry) {
        if let pauseBegin, number(packet.sequence).distance(after: pauseBegin) > 0 { self.pauseBegin = nil }
    }

    private func number(_ sequence: Int64) -> SequenceNumber {
        SequenceNumber(rawValue: UInt16(truncatingIfNeeded: sequence))
    }
}

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
