public import TenfourPackets

/// The content of an announcement: a sender's epoch, its packet index and its clock (Protocol/05-channel-keys.md). Nothing in
/// it is authenticated; `Announcement` adds a tag.
public struct AnnouncedEpoch: Hashable, Sendable {
    public var suite: SRTPSuite
    public var ssrc: SSRC
    public var epoch: Epoch
    /// The index of the sender's latest packet in this epoch, or of the first packet if none has been sent.
    public var index: PacketIndex
    /// The time of day by the sender's clock, in whole seconds since 1970.
    public var seconds: UInt64

    /// The length in bytes.
    public static let byteCount = 36

    /// `clock` is the time of day to announce; only its whole seconds are sent. If the epoch has a timing, `clock` must be
    /// the time at which the epoch was created plus the time that has passed since.
    public init(suite: SRTPSuite, ssrc: SSRC, epoch: Epoch, index: PacketIndex, at clock: WallClock) {
        self.suite = suite
        self.ssrc = ssrc
        self.epoch = epoch
        self.index = index
        seconds = clock.seconds
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

    /// Parses 36 bytes.
    package init(parsing bytes: Span<UInt8>) throws(ControlParseError) {
        guard bytes.count == Self.byteCount else { throw .length(bytes.count) }
        guard let suite = SRTPSuite(rawValue: bytes[0]) else { throw .value }
        guard bytes[1] == 0 else { throw .value }
        self.suite = suite
        ssrc = SSRC(bytes.number(at: 4))
        epoch = Epoch(rawValue: bytes.number(at: 20))
        index = PacketIndex(
            rolloverCounter: bytes.number(at: 8), SequenceNumber(rawValue: bytes.number(at: 2)))
        seconds = bytes.number(at: 12)
    }

    package func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(suite.rawValue)
        bytes.append(0)
        bytes.append(number: index.sequenceNumber.rawValue)
        bytes.append(number: ssrc.rawValue)
        bytes.append(number: index.rolloverCounter)
        bytes.append(number: seconds)
        bytes.append(number: epoch.rawValue)
    }

    var bytes: [UInt8] { [UInt8](capacity: Self.byteCount) { write(into: &$0) } }
}
