public import TenfourPackets

/// Announces a sender's epoch, which selects its SRTP key, and its packet index. The announcement is authenticated with
/// a key derived from the media root (Protocol/05-channel-keys.md).
///
/// A relay can read an announcement, but cannot make one.
public struct Announcement: Hashable, Sendable {
    public var suite: SRTPSuite
    public var ssrc: SSRC
    public var epoch: Epoch
    /// The index of the sender's latest packet in this epoch, or of the first packet if none has been sent.
    public var index: PacketIndex
    /// The time of day by the sender's clock, in whole seconds since 1970.
    public var seconds: UInt64
    private var tag: UInt128

    /// The length of an announcement in bytes, without the header of a control datagram.
    public static let byteCount = 52
    /// The largest accepted difference, in milliseconds, between the time in an epoch's first announcement and the
    /// receiver's clock, if the kernels of sender and receiver both report their clocks as synchronised.
    public static let maximumSynchronisedError: UInt64 = 10_000
    /// The largest accepted difference, in milliseconds, between the time in an epoch's first announcement and the
    /// receiver's clock, if the sender's or the receiver's clock is not synchronised.
    public static let maximumClockError: UInt64 = 120_000

    /// Makes and authenticates an announcement. `clock` is the time of day to announce; only its whole seconds are
    /// sent. If the epoch has a timing, `clock` must be the time at which the epoch was created plus the time that has
    /// passed since.
    public init(
        suite: SRTPSuite, ssrc: SSRC, epoch: Epoch, index: PacketIndex, at clock: WallClock, under root: MediaRoot
    ) {
        self.suite = suite
        self.ssrc = ssrc
        self.epoch = epoch
        self.index = index
        seconds = clock.seconds
        tag = 0
        tag = expectedTag(under: root)
    }

    /// The announced time of day in milliseconds since 1970, below 2⁶³. It is less than 1 s behind the sender's clock.
    /// The sender rounds its clock down to a whole second or, if the epoch has a timing, to a whole number of seconds
    /// since the epoch was created.
    public var milliseconds: Int64 {
        let whole = Int64(min(seconds, 1 << 48)) * 1_000
        return epoch.timing == nil ? whole : whole + Int64(epoch.milliseconds % 1_000)
    }

    /// Whether the time in the announced epoch is at most 5 s (`Epoch.maximumLead`) ahead of the time in the
    /// announcement. Without this check, an epoch far in the future would remain the newest for years.
    public var isEpochOfItsTime: Bool {
        Int64(epoch.milliseconds) <= milliseconds + Int64(Epoch.maximumLead)
    }

    /// Parses an announcement without authenticating it. The caller must check `isAuthentic`.
    init(parsing bytes: Span<UInt8>) throws(ControlParseError) {
        guard bytes.count == Self.byteCount else { throw .length(bytes.count) }
        guard let suite = SRTPSuite(rawValue: bytes[0]) else { throw .value }
        guard bytes[1] == 0 else { throw .value }
        self.suite = suite
        ssrc = SSRC(bytes.number(at: 4))
        epoch = Epoch(rawValue: bytes.number(at: 20))
        index = PacketIndex(
            rolloverCounter: bytes.number(at: 8), SequenceNumber(rawValue: bytes.number(at: 2)))
        seconds = bytes.number(at: 12)
        tag = bytes.number(at: 36)
    }

    /// Appends the 52 bytes of the announcement, without a header.
    func write(into datagram: inout OutputSpan<UInt8>) {
        writeUnsigned(into: &datagram)
        datagram.append(number: tag)
    }

    /// Whether a member of the channel made the announcement: the tag was made with the announcement key of `root`.
    public func isAuthentic(under root: MediaRoot) -> Bool { tag ^ expectedTag(under: root) == 0 }

    private func writeUnsigned(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(suite.rawValue)
        bytes.append(0)
        bytes.append(number: index.sequenceNumber.rawValue)
        bytes.append(number: ssrc.rawValue)
        bytes.append(number: index.rolloverCounter)
        bytes.append(number: seconds)
        bytes.append(number: epoch.rawValue)
    }

    private func expectedTag(under root: MediaRoot) -> UInt128 {
        let bytes = [UInt8](capacity: 36) { writeUnsigned(into: &$0) }
        return shortMAC(key: root.announcementKey) { $0.update(bytes.span) }
    }
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
