public import TenfourAudioCore

/// RTP's sequence number: 16 bits that count packets and wrap (RFC 3550 section 5.1).
public struct SequenceNumber: Hashable, BitwiseCopyable, Sendable {
    public var rawValue: UInt16

    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The distance from `other` to `self` around the wrap, −32 768…32 767: for example, 2 is four after 65 534.
    @inlinable public func distance(after other: Self) -> Int { Int(Int16(bitPattern: rawValue &- other.rawValue)) }

    @inlinable public func advanced(by count: Int) -> Self {
        Self(rawValue: rawValue &+ UInt16(truncatingIfNeeded: count))
    }
}

/// RTP's timestamp: 32 bits that count frames at the payload's clock and wrap; 48 000 Hz for Opus (RFC 7587).
public struct RTPTimestamp: Hashable, BitwiseCopyable, Sendable {
    public var rawValue: UInt32

    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The number of frames from `other` to `self` around the wrap, −2³¹…2³¹ − 1.
    @inlinable public func distance(after other: Self) -> FrameCount {
        FrameCount(Int(Int32(bitPattern: rawValue &- other.rawValue)))
    }

    @inlinable public func advanced(by count: FrameCount) -> Self {
        Self(rawValue: rawValue &+ UInt32(truncatingIfNeeded: count.rawValue))
    }
}

/// The synchronization source: a random number that identifies one stream within a session (RFC 3550 section 3).
public struct SSRC: Hashable, BitwiseCopyable, Sendable {
    public var rawValue: UInt32

    @inlinable public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    @inlinable public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

    /// The SSRC as eight hexadecimal digits, such as `1a2b3c4d`.
    public var digits: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// Extends a wrapping number to a count that does not wrap.
///
/// A value counts as later than the newest one if it is ahead of it by less than half the range of values, and as
/// earlier if it is not.
public struct Unwrapper: Sendable {
    private var last: Int64?

    public init() {}

    /// Extends `sequence` to a count that never wraps. The first sequence number keeps its value.
    public mutating func extend(_ sequence: SequenceNumber) -> Int64 {
        guard let last else {
            self.last = Int64(sequence.rawValue)
            return Int64(sequence.rawValue)
        }
        let step = sequence.distance(after: SequenceNumber(rawValue: UInt16(truncatingIfNeeded: last)))
        let extended = last + Int64(step)
        if step > 0 { self.last = extended }
        return extended
    }

    /// Extends `timestamp` to a count of frames that never wraps. The first timestamp keeps its value.
    public mutating func extend(_ timestamp: RTPTimestamp) -> Int64 {
        guard let last else {
            self.last = Int64(timestamp.rawValue)
            return Int64(timestamp.rawValue)
        }
        let step = timestamp.distance(after: RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: last)))
        let extended = last + Int64(step.rawValue)
        if step.rawValue > 0 { self.last = extended }
        return extended
    }
}
