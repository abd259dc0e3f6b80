public import TenfourAudioCore

/// A receiver's statistics of one source, within a sender or receiver report (RFC 3550 section 6.4.1).
public struct ReportBlock: Hashable, Sendable {
    /// The source whose statistics these are.
    public var ssrc: SSRC
    /// The share of lost packets since the last report, in 1/256.
    public var fractionLost: UInt8
    /// The number of packets lost since the beginning; below zero if duplicates outnumber losses. 24 bits: −8 388 608…8
    /// 388 607.
    public var cumulativeLost: Int
    /// The highest sequence number received, with the number of its wraps in the upper half.
    public var extendedHighestSequenceNumber: UInt32
    /// Interarrival jitter, in frames at the payload's clock rate, 0…2³² − 1.
    public var jitter: FrameCount
    /// The time in the last sender report of the source; nil before the first sender report.
    public var lastSenderReport: ShortNTPTime?
    /// The time from the arrival of the last sender report to the sending of this block, 0…18 hours in steps of 1/65536
    /// s.
    public var delaySinceLastSenderReport: Duration

    /// The length on the wire, in bytes.
    public static let byteCount = 24
    /// The maximum number of blocks in a report. The report has five bits for this number.
    public static let maximumCount = 31

    public init(
        ssrc: SSRC, fractionLost: UInt8, cumulativeLost: Int, extendedHighestSequenceNumber: UInt32,
        jitter: FrameCount, lastSenderReport: ShortNTPTime?, delaySinceLastSenderReport: Duration
    ) {
        self.ssrc = ssrc
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.extendedHighestSequenceNumber = extendedHighestSequenceNumber
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }

    /// Returns the round-trip time, for a block about our own stream that arrived at `now` by our wall clock (RFC 3550
    /// section 6.4.1, DLSR). Returns nil if the peer has not received any sender report from us.
    public func roundTrip(receivedAt now: NTPTime) -> Duration? {
        lastSenderReport?.roundTrip(lessDelay: delaySinceLastSenderReport, receivedAt: now)
    }
}

extension ReportBlock {
    /// Parses the block at `offset`; the caller has checked that 24 bytes are there.
    init(parsing datagram: Span<UInt8>, at offset: Int) {
        let loss = datagram.uint32(at: offset + 4)
        let lastSenderReport = datagram.uint32(at: offset + 16)
        self.init(
            ssrc: SSRC(datagram.uint32(at: offset)),
            fractionLost: UInt8(loss >> 24),
            cumulativeLost: Int(Int32(bitPattern: loss << 8) >> 8),
            extendedHighestSequenceNumber: datagram.uint32(at: offset + 8),
            jitter: FrameCount(Int(datagram.uint32(at: offset + 12))),
            lastSenderReport: lastSenderReport == 0 ? nil : ShortNTPTime(rawValue: lastSenderReport),
            delaySinceLastSenderReport: Duration(shortNTP: datagram.uint32(at: offset + 20)))
    }

    func write(into datagram: inout OutputSpan<UInt8>) {
        let lost = min(max(cumulativeLost, -0x80_0000), 0x7F_FFFF)
        datagram.append(bigEndian: ssrc.rawValue)
        datagram.append(bigEndian: UInt32(fractionLost) << 24 | UInt32(truncatingIfNeeded: lost) & 0xFF_FFFF)
        datagram.append(bigEndian: extendedHighestSequenceNumber)
        datagram.append(bigEndian: UInt32(clamping: jitter.rawValue))
        datagram.append(bigEndian: lastSenderReport?.rawValue ?? 0)
        datagram.append(bigEndian: delaySinceLastSenderReport.shortNTP)
    }
}
