/// A wall-clock time in the format of NTP: seconds since 1900 in the upper 32 bits, their fraction in the lower (RFC
/// 3550 section 4). Wraps in 2036; only differences have a meaning.
public struct NTPTime: Hashable, Sendable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Converts the result of `clock_gettime(CLOCK_REALTIME)`; `nanoseconds` are 0…999 999 999.
    public init(secondsSince1970 seconds: Int64, nanoseconds: Int = 0) {
        precondition((0..<1_000_000_000).contains(nanoseconds), "nanoseconds are less than a second")
        let secondsSince1900 = UInt64(truncatingIfNeeded: seconds &+ 2_208_988_800)
        rawValue = secondsSince1900 << 32 | (UInt64(nanoseconds) << 32) / 1_000_000_000
    }

    /// The time `duration` later, or earlier if it is negative. Exact to a nanosecond.
    public func advanced(by duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let fraction = ((attoseconds / 1_000_000_000) << 32) / 1_000_000_000
        return Self(rawValue: rawValue &+ UInt64(bitPattern: seconds << 32 &+ fraction))
    }

    /// The middle 32 bits. Report blocks and echoes return a time in this form.
    public var short: ShortNTPTime { ShortNTPTime(rawValue: UInt32(truncatingIfNeeded: rawValue >> 16)) }
}

/// The middle 32 bits of an `NTPTime`: 16 bits of seconds, 16 bits of their fraction. Wraps after 18 hours.
public struct ShortNTPTime: Hashable, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

extension Duration {
    /// Converts a number of units of 1/65536 s, in which RTCP states times. The result is exact.
    init(shortNTP count: UInt32) {
        self.init(
            secondsComponent: Int64(count >> 16),
            attosecondsComponent: Int64(count & 0xFFFF) * Self.attosecondsPerShortNTP)
    }

    /// The duration in RTCP's unit of 1/65536 s, rounded down and limited to 0…18 hours.
    var shortNTP: UInt32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 65_536 else { return .max }
        return UInt32(seconds) << 16 | UInt32(attoseconds / Self.attosecondsPerShortNTP)
    }

    private static let attosecondsPerShortNTP: Int64 = 1_000_000_000_000_000_000 / 65_536
}
