/// A number of frames. A frame is one sample of each channel at one moment.
///
/// The sample rate is 48 000 Hz unless stated otherwise: all audio between the two sound cards has this rate.
public struct FrameCount: Hashable, Comparable, BitwiseCopyable, Sendable {
    public var rawValue: Int

    @_noAllocation @_noLocks
    @inlinable public init(_ rawValue: Int) { self.rawValue = rawValue }

    @inlinable public static var zero: Self { Self(0) }

    /// Converts `duration` to frames at `rate`, rounded to the nearest frame.
    public init(_ duration: Duration, at rate: SampleRate = .opus) {
        let nanoseconds = Instant.nanoseconds(in: duration)
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let hertz = Int64(rate.hertz)
        rawValue = Int(seconds * hertz + (rest * hertz + (rest < 0 ? -500_000_000 : 500_000_000)) / 1_000_000_000)
    }

    /// Returns the duration of this number of frames at `rate`.
    public func duration(at rate: SampleRate = .opus) -> Duration {
        let (seconds, rest) = rawValue.quotientAndRemainder(dividingBy: rate.hertz)
        return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / rate.hertz)
    }

    @inlinable public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }
    @inlinable public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    @inlinable public static func + (left: Self, right: Self) -> Self { Self(left.rawValue + right.rawValue) }
    @inlinable public static func - (left: Self, right: Self) -> Self { Self(left.rawValue - right.rawValue) }
    @inlinable public static func += (left: inout Self, right: Self) { left.rawValue += right.rawValue }
    @inlinable public static func -= (left: inout Self, right: Self) { left.rawValue -= right.rawValue }
}
