/// What makes a sender's key one that was never used: 48 bits of milliseconds since 1970, and 80 random ones.
///
/// A later epoch of one sender is the greater number.
public struct Epoch: Hashable, Comparable, Sendable {
    public let rawValue: UInt128

    public init(rawValue: UInt128) { self.rawValue = rawValue }

    /// After `last`, even where the clock was set back. `random` is drawn for each epoch; 80 bits of it are used.
    public init(at clock: WallClock, random: UInt128, after last: Epoch? = nil) {
        var milliseconds = clock.milliseconds & Self.milliseconds
        if let last { milliseconds = max(milliseconds, min(last.rawValue >> 80 + 1, Self.milliseconds)) }
        rawValue = milliseconds << 80 | random & (1 << 80 - 1)
    }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    private static let milliseconds: UInt128 = 1 << 48 - 1
}

/// The time of day: milliseconds since 1970.
public struct WallClock: Hashable, Comparable, Sendable {
    public var sinceEpoch: UInt64

    public init(milliseconds: UInt64) { sinceEpoch = milliseconds }

    public var seconds: UInt64 { sinceEpoch / 1000 }

    var milliseconds: UInt128 { UInt128(sinceEpoch) }

    public static func < (left: Self, right: Self) -> Bool { left.sinceEpoch < right.sinceEpoch }
}
