public import Sound

/// Remembers which packets were missed of late, to tell loss from lateness: one that comes after all was not lost.
public struct MissingPackets: BitwiseCopyable, Sendable {
    private struct Entry: BitwiseCopyable {
        var sequence: Int64 = .min
        var at = FrameCount(0)
    }

    private var entries = InlineArray<32, Entry>(repeating: Entry())
    private var next = 0

    /// By then a packet that is only late has come: 300 ms.
    private static var patience: FrameCount { FrameCount(14_400) }
    /// How long a loss counts as recent: 10 s.
    private static var memory: FrameCount { FrameCount(480_000) }

    @_noAllocation @_noLocks
    public init() {}

    /// Playout passed over the packets between two others, at `now`.
    @_noAllocation @_noLocks
    public mutating func miss(_ sequences: ClosedRange<Int64>, at now: FrameCount) {
        var sequence = max(sequences.lowerBound, sequences.upperBound - 31)
        while sequence <= sequences.upperBound {
            entries[next] = Entry(sequence: sequence, at: now)
            next = (next + 1) % 32
            sequence += 1
        }
    }

    /// It has come, too late.
    @_noAllocation @_noLocks
    public mutating func arrive(_ sequence: Int64) {
        for index in entries.indices where entries[index].sequence == sequence { entries[index] = Entry() }
    }

    /// Whether a packet was lost within the last ten seconds.
    @_noAllocation @_noLocks
    public func hasLoss(at now: FrameCount) -> Bool {
        for index in entries.indices where entries[index].sequence != .min {
            let age = now - entries[index].at
            if age >= Self.patience && age < Self.memory { return true }
        }
        return false
    }
}
