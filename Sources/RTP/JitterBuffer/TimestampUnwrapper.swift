public import TenfourAudioCore
public import TenfourPackets

/// Extends a talker's wrapping sequence numbers and timestamps to values that do not wrap, and detects jumps.
public struct TimestampUnwrapper: Sendable {
    public enum Place: Equatable, Sendable {
        case known(sequence: Int64, start: FrameCount)
        /// The packet does not fit the packets before it. A single outlier may be a stray packet; a second one in a row
        /// is a jump.
        case outlier
        /// The timeline restarts with this packet, because the sequence numbers or timestamps have jumped.
        case jumped(sequence: Int64, start: FrameCount)
    }

    private struct Numbers: Sendable {
        var sequenceNumber: SequenceNumber
        var timestamp: RTPTimestamp
    }

    private var newest: Numbers?
    private var sequence: Int64 = 0
    private var start = FrameCount.zero
    private var outlier: Numbers?

    /// The maximum step between the sequence numbers of two packets. A larger step counts as a restart (RFC 3550
    /// appendix A.1).
    private static var longestSequenceStep: Int { 3_000 }
    /// The minimum plausible delay of a packet out of sequence, relative to the fastest packet of the last seconds: −200
    /// ms.
    static var earliest: FrameCount { @_noAllocation @_noLocks get { FrameCount(-9_600) } }
    /// The maximum delay of a packet, relative to the fastest packet: 10 s. After a longer stall the stream counts as a
    /// new one.
    private static var latest: FrameCount { FrameCount(480_000) }
    /// The maximum duration of a packet: 120 ms.
    private static var longestPacket: FrameCount { FrameCount(5_760) }

    @_noAllocation @_noLocks
    public init() {}

    /// Returns the position of a packet that arrived at `arrival`. `fastest` is the delay of the fastest packet. While
    /// nothing is playing (`isIdle`), a jump is accepted immediately.
    @_noAllocation @_noLocks
    public mutating func place(
        _ sequenceNumber: SequenceNumber, _ timestamp: RTPTimestamp, arrivedAt arrival: FrameCount,
        fastest: FrameCount?, isIdle: Bool
    ) -> Place {
        let numbers = Numbers(sequenceNumber: sequenceNumber, timestamp: timestamp)
        guard let newest else {
            begin(with: numbers)
            return .known(sequence: sequence, start: start)
        }
        let step = sequenceNumber.distance(after: newest.sequenceNumber)
        let frames = timestamp.distance(after: newest.timestamp)
        let read = (sequence: sequence + Int64(step), start: start + frames)
        let delay = arrival - read.start
        // The next packet in sequence fits however early it is: the talker sends faster than real time.
        let isNext = step == 1 && frames > .zero && frames <= Self.longestPacket
        if fits(step, frames, delay: delay, isNext ? fastest.map { min($0, delay) } : fastest) {
            if step > 0 {
                self.newest = numbers
                (sequence, start) = read
            }
            outlier = nil
            return .known(sequence: read.sequence, start: read.start)
        }
        if isIdle || follows(numbers) {
            begin(with: numbers)
            return .jumped(sequence: sequence, start: start)
        }
        outlier = numbers
        return .outlier
    }

    /// Returns the position of a copy or retransmission, which does not show the talker's present position; nil if no
    /// packet with a similar sequence number has arrived.
    @_noAllocation @_noLocks
    public func placeOfRecovered(_ sequenceNumber: SequenceNumber, _ timestamp: RTPTimestamp) -> Place? {
        guard let newest else { return nil }
        let step = sequenceNumber.distance(after: newest.sequenceNumber)
        let frames = timestamp.distance(after: newest.timestamp)
        guard fits(step, frames, delay: .zero, nil), frames >= FrameCount(0) - Self.latest else { return nil }
        return .known(sequence: sequence + Int64(step), start: start + frames)
    }

    private mutating func begin(with numbers: Numbers) {
        newest = numbers
        sequence = Int64(numbers.sequenceNumber.rawValue)
        start = FrameCount(Int(numbers.timestamp.rawValue))
        outlier = nil
    }

    private func fits(_ step: Int, _ frames: FrameCount, delay: FrameCount, _ fastest: FrameCount?) -> Bool {
        guard abs(step) <= Self.longestSequenceStep, step.signum() == frames.rawValue.signum() else { return false }
        guard let fastest else { return true }
        return delay - fastest >= Self.earliest && delay - fastest <= Self.latest
    }

    private func follows(_ numbers: Numbers) -> Bool {
        guard let outlier, numbers.sequenceNumber.distance(after: outlier.sequenceNumber) == 1 else { return false }
        let frames = numbers.timestamp.distance(after: outlier.timestamp)
        return frames > .zero && frames <= Self.longestPacket
    }
}
