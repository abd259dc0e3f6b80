public import TenfourAudioCore

/// Remembers which packets were missed of late, to tell loss from lateness: one that comes after all was not lost.
public struct MissingPackets: ~Copyable, Sendable {
    /// Not private, as it should be: that ends the compiler of Swift 6.3 in debug builds.
    struct Entry: BitwiseCopyable {
        var sequence: Int64 = .min
        var at = FrameCount(0)
        /// It came, too late to be played.
        var hasCome = false
    }

    private var entries = FixedBuffer(repeating: Entry(), count: Self.capacity)
    private var next = 0

    /// By then a packet that is only late has come: 300 ms.
    private static var patience: FrameCount { FrameCount(14_400) }
    /// How long a loss counts as recent: 10 s.
    private static var memory: FrameCount { FrameCount(480_000) }

    private static var capacity: Int { 32 }

    public init() {}

    @_noAllocation @_noLocks
    public mutating func removeAll() {
        for index in 0..<entries.count { entries[index] = Entry() }
        next = 0
    }

    /// Playout passed over the packets between two others, at `now`.
    @_noAllocation @_noLocks
    public mutating func miss(_ sequences: ClosedRange<Int64>, at now: FrameCount) {
        var sequence = max(sequences.lowerBound, sequences.upperBound - Int64(Self.capacity) + 1)
        while sequence <= sequences.upperBound {
            if index(of: sequence) == nil { note(Entry(sequence: sequence, at: now)) }
            sequence += 1
        }
    }

    /// It has come, too late: after it was missed, or while it was being concealed.
    @_noAllocation @_noLocks
    public mutating func arrive(_ sequence: Int64, at now: FrameCount) {
        if let index = index(of: sequence) {
            entries[index].hasCome = true
        } else {
            note(Entry(sequence: sequence, at: now, hasCome: true))
        }
    }

    /// Whether it was missed, and has not come by itself.
    @_noAllocation @_noLocks
    public func isMissing(_ sequence: Int64) -> Bool {
        guard let index = index(of: sequence) else { return false }
        return !entries[index].hasCome
    }

    /// Whether a packet was lost within the last ten seconds.
    @_noAllocation @_noLocks
    public func hasLoss(at now: FrameCount) -> Bool {
        let newest = entries[(next + Self.capacity - 1) % Self.capacity]
        guard newest.sequence != .min, now - newest.at < Self.memory else { return false }
        for index in 0..<entries.count where entries[index].sequence != .min && !entries[index].hasCome {
            let age = now - entries[index].at
            if age >= Self.patience && age < Self.memory { return true }
        }
        return false
    }

    private mutating func note(_ entry: Entry) {
        entries[next] = entry
        next = (next + 1) % Self.capacity
    }

    private func index(of sequence: Int64) -> Int? {
        for index in 0..<entries.count where entries[index].sequence == sequence { return index }
        return nil
    }
}
