public import TenfourPackets

/// Tells receivers which key a sender uses and where its packet count is, authenticated under the media root
/// (Protocol/05-channel-keys.md).
///
/// A relay reads it and cannot make one.
public struct Announcement: Hashable, Sendable {
    public var suite: SRTPSuite
    public var ssrc: SSRC
    public var epoch: Epoch
    /// Of the sender's latest packet in this epoch, or of the first to come.
    public var index: PacketIndex
    /// The sender's clock, seconds since 1970.
    public var seconds: UInt64
    private var tag: UInt128

    /// Without the header of a control datagram.
    public static let byteCount = 52
    /// How far the clock of an epoch's first announcement may be off the receiver's, in milliseconds, where the kernel of each
    /// calls its clock synchronised.
    public static let maximumSynchronisedError: UInt64 = 10_000
    /// The same where one of them does not.
    public static let maximumClockError: UInt64 = 120_000

    /// Signs it. `clock` is that of the epoch: where the epoch has a timing, its own milliseconds and the time since it was drawn.
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

    /// The sender's clock in milliseconds since 1970, below 2⁶³: less than a second early, and where the epoch has a timing exact
    /// when whole seconds have passed since it was drawn.
    public var milliseconds: Int64 {
        let whole = Int64(min(seconds, 1 << 48)) * 1_000
        return epoch.timing == nil ? whole : whole + Int64(epoch.milliseconds % 1_000)
    }

    /// Whether its epoch is at most `Epoch.maximumLead` ahead of its clock. One far ahead would be the newest for
    /// years.
    public var isEpochOfItsTime: Bool {
        Int64(epoch.milliseconds) <= milliseconds + Int64(Epoch.maximumLead)
    }

    /// Reads what somebody says; nobody has vouched for it yet.
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

    /// Appends 52 bytes.
    func write(into datagram: inout OutputSpan<UInt8>) {
        writeUnsigned(into: &datagram)
        datagram.append(number: tag)
    }

    /// Whether a member made it.
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

/// SRTP's count of a sender's packets: 32 bits of rollover counter and 16 of sequence number (RFC 3711 section 3.3.1).
public struct PacketIndex: Hashable, Comparable, Sendable {
    /// 0…2⁴⁸ − 1.
    public let rawValue: UInt64

    public init(rolloverCounter: UInt32, _ sequenceNumber: SequenceNumber) {
        rawValue = UInt64(rolloverCounter) << 16 | UInt64(sequenceNumber.rawValue)
    }

    public var rolloverCounter: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }
    public var sequenceNumber: SequenceNumber { SequenceNumber(rawValue: UInt16(truncatingIfNeeded: rawValue)) }

    /// The index with `sequenceNumber` that lies closest.
    public func closest(_ sequenceNumber: SequenceNumber) -> PacketIndex {
        let moved = Int64(rawValue) + Int64(sequenceNumber.distance(after: self.sequenceNumber))
        // Before the first packet there is none: then it is one of the first turn.
        let index = moved < 0 ? moved + 65_536 : min(moved, 1 << 48 - 1)
        return PacketIndex(
            rolloverCounter: UInt32(truncatingIfNeeded: index >> 16),
            SequenceNumber(rawValue: UInt16(truncatingIfNeeded: index)))
    }

    /// The index `count` packets before, or the first.
    func less(_ count: Int) -> PacketIndex { PacketIndex(rawValue: rawValue - min(rawValue, UInt64(count))) }

    private init(rawValue: UInt64) { self.rawValue = rawValue }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
