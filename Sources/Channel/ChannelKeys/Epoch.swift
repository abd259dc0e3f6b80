public import TenfourPackets

/// Identifies one of a sender's SRTP keys: 16 bytes that begin with the time of day at which the sender created the
/// epoch, different for each key (Protocol/05-channel-keys.md).
///
/// A sender's later epoch is a greater number than its earlier epochs.
public struct Epoch: Hashable, Comparable, Sendable {
    public let rawValue: UInt128

    /// Relates a sender's RTP timestamps to its clock. Epochs of older implementations have no timing.
    public struct Timing: Hashable, Sendable {
        /// The RTP timestamp at the moment when the epoch was created.
        public var timestamp: RTPTimestamp
        /// Whether the sender's kernel reported its clock as synchronised.
        public var isSynchronised: Bool

        public init(timestamp: RTPTimestamp, isSynchronised: Bool) {
            self.timestamp = timestamp
            self.isSynchronised = isSynchronised
        }
    }

    public init(rawValue: UInt128) { self.rawValue = rawValue }

    /// Makes the epoch for the time `clock`. The epoch is greater than `last`, unless the clock has been set back by
    /// more than 5 s (`maximumLead`) since `last` was made. `random` must be a new random number for each epoch; 24 of
    /// its bits are used, or 80 if `timing` is nil.
    public init(at clock: WallClock, timing: Timing? = nil, random: UInt128, after last: Epoch? = nil) {
        var milliseconds = UInt128(clock.sinceEpoch) & Self.clockMask
        if let last, milliseconds + UInt128(Self.maximumLead) > last.rawValue >> 80 {
            milliseconds = max(milliseconds, min(last.rawValue >> 80 + 1, Self.clockMask))
        }
        if let timing {
            let flags: UInt128 = timing.isSynchronised ? 1 : 0
            rawValue =
                milliseconds << 80 | UInt128(timing.timestamp.rawValue) << 48 | Self.form << 32 | flags << 24
                | random & 0xFF_FFFF
        } else {
            rawValue = milliseconds << 80 | random & (1 << 80 - 1)
        }
    }

    /// The sender's clock when it created the epoch: milliseconds since 1970, 48 bits.
    public var milliseconds: UInt64 { UInt64(truncatingIfNeeded: rawValue >> 80) }

    /// The relation of RTP timestamps to the sender's clock; nil for an epoch of an older implementation.
    public var timing: Timing? {
        guard rawValue >> 32 & 0xFFFF == Self.form, rawValue >> 24 & 0xFE == 0 else { return nil }
        return Timing(
            timestamp: RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: rawValue >> 48)),
            isSynchronised: rawValue >> 24 & 1 == 1)
    }

    /// The maximum time, in milliseconds, by which the time in an epoch may be ahead of the time in its announcement.
    /// An announcement beyond this maximum is rejected.
    public static let maximumLead: UInt64 = 5_000

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    private static let clockMask: UInt128 = 1 << 48 - 1
    /// Marks the epochs that have a timing: ASCII `e2`, in bits 32…47 of the raw value.
    private static let form: UInt128 = 0x6532
}

/// A time of day, in milliseconds since 1970.
public struct WallClock: Hashable, Comparable, Sendable {
    public var sinceEpoch: UInt64

    public init(milliseconds: UInt64) { sinceEpoch = milliseconds }

    public var seconds: UInt64 { sinceEpoch / 1000 }

    public static func < (left: Self, right: Self) -> Bool { left.sinceEpoch < right.sinceEpoch }
}
