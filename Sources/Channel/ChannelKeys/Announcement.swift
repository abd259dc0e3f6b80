public import TenfourPackets

/// Announces a sender's epoch, which selects its SRTP key, and its packet index. The announcement is authenticated with
/// a key derived from the media root (Protocol/05-channel-keys.md).
///
/// A relay can read an announcement, but cannot make one.
@dynamicMemberLookup
public struct Announcement: Hashable, Sendable {
    /// The epoch that is announced. Its properties are also those of the announcement.
    public var content: AnnouncedEpoch
    private let tag: UInt128

    /// The length of an announcement in bytes, without the header of a control datagram.
    public static let byteCount = AnnouncedEpoch.byteCount + 16
    /// The largest accepted difference, in milliseconds, between the time in an epoch's first announcement and the
    /// receiver's clock, if the kernels of sender and receiver both report their clocks as synchronised.
    public static let maximumSynchronisedError: UInt64 = 10_000
    /// The largest accepted difference, in milliseconds, between the time in an epoch's first announcement and the
    /// receiver's clock, if the sender's or the receiver's clock is not synchronised.
    public static let maximumClockError: UInt64 = 120_000

    /// Makes and authenticates an announcement; see `AnnouncedEpoch` for the arguments.
    public init(
        suite: SRTPSuite, ssrc: SSRC, epoch: Epoch, index: PacketIndex, at clock: WallClock, under root: MediaRoot
    ) {
        self.init(AnnouncedEpoch(suite: suite, ssrc: ssrc, epoch: epoch, index: index, at: clock), under: root)
    }

    /// Authenticates `content`.
    public init(_ content: AnnouncedEpoch, under root: MediaRoot) {
        self.content = content
        tag = root.announcementTag(of: content.bytes.span)
    }

    public subscript<Value>(dynamicMember path: KeyPath<AnnouncedEpoch, Value>) -> Value { content[keyPath: path] }

    public subscript<Value>(dynamicMember path: WritableKeyPath<AnnouncedEpoch, Value>) -> Value {
        get { content[keyPath: path] }
        set { content[keyPath: path] = newValue }
    }

    /// Parses an announcement without authenticating it. The caller must check `isAuthentic`.
    init(parsing bytes: Span<UInt8>) throws(ControlParseError) {
        guard bytes.count == Self.byteCount else { throw .length(bytes.count) }
        content = try AnnouncedEpoch(parsing: bytes.extracting(0..<AnnouncedEpoch.byteCount))
        tag = bytes.number(at: AnnouncedEpoch.byteCount)
    }

    /// Appends the 52 bytes of the announcement, without a header.
    func write(into datagram: inout OutputSpan<UInt8>) {
        content.write(into: &datagram)
        datagram.append(number: tag)
    }

    /// Whether a member of the channel made the announcement: the tag was made with the announcement key of `root`.
    public func isAuthentic(under root: MediaRoot) -> Bool { tag ^ root.announcementTag(of: content.bytes.span) == 0 }
}

/// SRTP's index of a packet: the rollover counter (32 bits), then the sequence number (16 bits); RFC 3711 section
/// 3.3.1.
public struct PacketIndex: Hashable, Comparable, Sendable {
    /// The index as a number, 0…2⁴⁸ − 1.
    public let rawValue: UInt64

    public init(rolloverCounter: UInt32, _ sequenceNumber: SequenceNumber) {
        rawValue = UInt64(rolloverCounter) << 16 | UInt64(sequenceNumber.rawValue)
    }

    public var rolloverCounter: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }
    public var sequenceNumber: SequenceNumber { SequenceNumber(rawValue: UInt16(truncatingIfNeeded: rawValue)) }

    /// Returns the packet index that has this sequence number and is closest to `self`.
    public func closest(_ sequenceNumber: SequenceNumber) -> PacketIndex {
        let moved = Int64(rawValue) + Int64(sequenceNumber.distance(after: self.sequenceNumber))
        // Keeps the index within 0…2⁴⁸ − 1. A negative index is replaced by the index with the same sequence number in
        // the first cycle of sequence numbers.
        let index = moved < 0 ? moved + 65_536 : min(moved, 1 << 48 - 1)
        return PacketIndex(
            rolloverCounter: UInt32(truncatingIfNeeded: index >> 16),
            SequenceNumber(rawValue: UInt16(truncatingIfNeeded: index)))
    }

    /// Returns the packet index that is lower by `count`, but at least 0.
    func less(_ count: Int) -> PacketIndex { PacketIndex(rawValue: rawValue - min(rawValue, UInt64(count))) }

    private init(rawValue: UInt64) { self.rawValue = rawValue }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
