internal import TenfourAudioCore
internal import TenfourPackets

/// A talker's pause with comfort noise (RFC 3389): after which audio it begins, and whether it is over.
struct NoisyPause: BitwiseCopyable, Sendable {
    /// The number of the audio before the newest pause; nil if that pause is over.
    private var begin: SequenceNumber?

    /// The duration of concealment before comfort noise: 60 ms, in which the concealment of G.711 fades out.
    private static var longestFade: FrameCount { FrameCount(2_880) }

    /// Begins a pause after the audio with the number `begin`. Returns false if a packet later than that was played
    /// already (`last`), or a later pause is known.
    @_noAllocation @_noLocks
    mutating func begin(after begin: SequenceNumber, last: DecodedPacket?) -> Bool {
        if let last, Self.distance(of: last.sequence, after: begin) > 0 { return false }
        if let known = self.begin, known.distance(after: begin) > 0 { return false }
        self.begin = begin
        return true
    }

    /// Ends the pause, because no audio follows.
    @_noAllocation @_noLocks
    mutating func end() { begin = nil }

    /// Ends the pause if `packet` comes after it.
    @_noAllocation @_noLocks
    mutating func end(with packet: PacketQueue.Entry) {
        if let begin, Self.distance(of: packet.sequence, after: begin) > 0 { self.begin = nil }
    }

    /// Whether silence is part of the pause, if the packet `last` was played and `next` is the next one in the queue.
    @_noAllocation @_noLocks
    func includesSilence(after last: DecodedPacket?, before next: PacketQueue.Entry?) -> Bool {
        guard let begin, last != nil else { return false }
        guard let next else { return true }
        return Self.distance(of: next.sequence, after: begin) > 0
    }

    /// The maximum duration of concealment of an empty queue after the packet `last`.
    @_noAllocation @_noLocks
    func longestUnderrun(after last: DecodedPacket?) -> FrameCount {
        let longest = DecisionLogic.longestUnderrun(after: last)
        guard let begin, let last, Self.distance(of: last.sequence, after: begin) >= 0 else { return longest }
        return min(longest, Self.longestFade)
    }

    private static func distance(of sequence: Int64, after begin: SequenceNumber) -> Int {
        SequenceNumber(rawValue: UInt16(truncatingIfNeeded: sequence)).distance(after: begin)
    }
}

extension PlayoutController {
    /// Begins a pause with comfort noise after the audio with the number `begin`. Returns false if a later packet was
    /// played already, or a later pause is known.
    @_noAllocation @_noLocks
    mutating func beginPause(after begin: SequenceNumber) -> Bool { pause.begin(after: begin, last: last) }

    /// Whether the present silence is a pause with comfort noise.
    var isNoisyPause: Bool {
        @_noAllocation @_noLocks get { pause.includesSilence(after: last, before: queue.head) }
    }
}
