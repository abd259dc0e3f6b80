public import TenfourAudioCore

/// The last packets that had not arrived when playout needed them. Such a packet counts as late if it arrives
/// afterwards, and as lost if it does not.
public struct MissingPackets: ~Copyable, Sendable {
    /// Not private, because the compiler of Swift 6.3 crashes on a private type here in debug builds.
    struct Entry: BitwiseCopyable {
        var sequence: Int64 = .min
        var at = FrameCount(0)
        /// Whether the packet has arrived, too late to be played.
        var hasArrived = false
    }

    private var entries = FixedBuffer(repeating: Entry(), count: Self.capacity)
    private var next = 0

    /// The time for which a missing packet may still arrive: 300 ms. If it has not arrived by then, it counts as lost.
    private static var lateTime: FrameCount { FrameCount(14_400) }
    /// The time for which a lost packet counts as a recent loss: 10 s.
    private static var memory: FrameCount { FrameCount(480_000) }

    private static var capacity: Int { 32 }

    public init() {}

    @_noAllocation @_noLocks
    public mutating func removeAll() {
        for index in 0..<entries.count { entries[index] = Entry() }
        next = 0
    }

    /// Records that the packets `sequences` had not arrived when playout reached them, at `now`.
    @_noAllocation @_noLocks
    public mutating func recordMissing(_ sequences: ClosedRange<Int64>, at now: FrameCount) {
        var sequence = max(sequences.lowerBound, sequences.upperBound - Int64(Self.capacity) + 1)
        while sequence <= sequences.upperBound {
            if index(of: sequence) == nil { append(Entry(sequence: sequence, at: now)) }
            sequence += 1
        }
    }

    /// Records a packet that arrived too late: after playout had reached it, or while its audio was being concealed.
    @_noAllocation @_noLocks
    public mutating func recordArrival(_ sequence: Int64, at now: FrameCount) {
        if let index = index(of: sequence) {
            entries[index].hasArrived = true
        } else {
            append(Entry(sequence: sequence, at: now, hasArrived: true))
        }
    }

    /// Whether playout reached the packet before its original arrived, and the original is still missing.
    @_noAllocation @_noLocks
    public func isMissing(_ sequence: Int64) -> Bool {
        guard let index = index(of: sequence) else { return false }
        return !entries[index].hasArrived
    }

    /// Whether a packet was lost within the last ten seconds.
    @_noAllocation @_noLocks
    public func hasLoss(at now: FrameCount) -> Bool {
        let newest = entries[(next + Self.capacity - 1) % Self.capacity]
        guard newest.sequence != .min, now - newest.at < Self.memory else { return false }
        for index in 0..<entries.count where entries[index].sequence != .min && !entries[index].hasArrived {
            let age = now - entries[index].at
            if age >= Self.lateTime && age < Self.memory { return true }
        }
        return false
    }

    private mutating func append(_ entry: Entry) {
        entries[next] = entry
        next = (next + 1) % Self.capacity
    }

    private func index(of sequence: Int64) -> Int? {
        for index in 0..<entries.count where entries[index].sequence == sequence { return index }
        return nil
    }
}
