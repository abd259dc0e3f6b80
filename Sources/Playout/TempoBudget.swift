public import Sound

/// How much may be cut from sound, or put in, without its tempo leaving ± 10 %.
public struct TempoBudget: BitwiseCopyable, Sendable {
    /// What may be changed now.
    public private(set) var allowance = FrameCount(0)

    private static var share: Int { 10 }
    /// What is not used up is not saved for long: two of the longest periods.
    private static var most: FrameCount { FrameCount(1_440) }

    @_noAllocation @_noLocks
    public init() {}

    /// So much sound has gone by.
    @_noAllocation @_noLocks
    public mutating func earn(_ frames: FrameCount) {
        remainder += frames.rawValue
        allowance = min(allowance + FrameCount(remainder / Self.share), Self.most)
        remainder %= Self.share
    }

    @_noAllocation @_noLocks
    public mutating func spend(_ frames: FrameCount) { allowance -= frames }

    private var remainder = 0
}
