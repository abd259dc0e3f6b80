public import TenfourAudioCore

/// Statistics of the packets received from one source: number, order and jitter (RFC 3550 section 6.4 and appendix A.1,
/// A.3, A.8).
///
/// Insert every RTP packet of the source; the statistics fill the report block that is sent back. Opens no socket,
/// reads no clock. A new source is accepted from its first packet on; the caller decides who may be a source.
public struct ReceptionStatistics: Sendable {
    public let ssrc: SSRC
    /// The clock rate of the payload.
    public let rate: SampleRate

    /// The number of packets since the beginning or the last restart, including duplicates as in RFC 3550.
    public private(set) var receivedCount = 0
    /// The number of received packets that were duplicates of earlier packets.
    public private(set) var duplicateCount = 0
    /// The number of received packets that arrived after a packet with a higher sequence number.
    public private(set) var reorderedCount = 0
    /// The losses of the network, in sequence order. The newest 32 packets are not counted yet, because they may still
    /// arrive. A retransmitted packet counts as lost.
    public private(set) var losses = BurstMetrics()
    /// The number of times that the source restarted with other sequence numbers.
    public private(set) var restartCount = 0

    private var base: Int64 = 0
    private var highest: Int64 = 0
    /// A bit mask of received packets. Bit n stands for the packet that is n packets before the highest sequence
    /// number.
    private var history: UInt128 = 0
    /// A bit mask of received packets that were not retransmitted. Bit n stands for the packet that is n packets before
    /// the highest sequence number.
    private var unaskedHistory: UInt128 = 0
    /// The sequence number that would confirm a jump; nil if there is no unconfirmed jump.
    private var expectedAfterJump: SequenceNumber?

    private var lastTransit: UInt32?
    /// The jitter, in sixteenths of a clock period.
    private var scaledJitter: Int64 = 0

    private var lastSenderReport: (time: ShortNTPTime, arrival: Instant)?
    private var expectedBefore = 0
    private var receivedBefore = 0

    /// The step forward, in packets, from which on a sequence number counts as a jump. A smaller step counts as loss.
    public static let maximumDropout = 3000
    /// The distance behind the highest sequence number, in packets, at which a packet that has not arrived counts as
    /// lost.
    private static let patience = 32
    /// The step back, in packets, from which on a sequence number counts as a jump. A smaller step is a late packet.
    private static let maximumMisorder = 100

    public init(ssrc: SSRC, rate: SampleRate = .opus) {
        self.ssrc = ssrc
        self.rate = rate
    }

    /// The position of a packet in its stream, by its sequence number.
    public enum Reception: Hashable, Sendable {
        /// The next packet, or a later one: `lost` packets between the two are missing so far.
        case ahead(lost: Int)
        /// The packet arrived late: its sequence number is `by` below the highest one.
        case reordered(by: Int)
        case duplicate
        /// The sequence number is far from all earlier ones. The packet is not counted; the next packet shows whether
        /// this one was a stray or a restart.
        case stray
        /// The packet is the second one in a row after a jump: the source has restarted, and the counts begin again.
        case restarted
    }

    /// Counts a packet that arrived at `now`. A retransmission does not count for the jitter, nor does a packet that waited
    /// before it was read.
    @discardableResult
    public mutating func packetArrived(
        _ sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, isRetransmission: Bool = false,
        hasWaited: Bool = false, at now: Instant
    ) -> Reception {
        let reception = place(sequenceNumber, isRetransmission: isRetransmission)
        switch reception {
        case .stray: return reception
        case .duplicate: duplicateCount += 1
        case .reordered: reorderedCount += 1
        case .ahead, .restarted: break
        }
        receivedCount += 1
        if reception != .duplicate, !isRetransmission, !hasWaited { measureJitter(timestamp, at: now) }
        return reception
    }

    /// Begins the counts again with the next packet, because another sender continues the source.
    package mutating func restart() {
        guard receivedCount > 0 else { return }
        begin(at: highestSequenceNumber)
        lastSenderReport = nil
        restartCount += 1
    }

    /// Records a sender report of this source, to be answered in the next block.
    public mutating func senderReportArrived(_ report: SenderReport, at now: Instant) {
        lastSenderReport = (report.time.short, now)
    }

    /// Returns the report block about this source for a report sent at `now`, and begins a new interval for the
    /// fraction lost. Returns nil if no packet has arrived since the last block: RFC 3550 section 6.4 omits such a
    /// source.
    public mutating func reportBlock(at now: Instant) -> ReportBlock? {
        defer { (expectedBefore, receivedBefore) = (expectedCount, receivedCount) }
        return presentBlock(at: now)
    }

    /// Returns the report block of the present interval, as `reportBlock(at:)` does, and continues the interval.
    public func presentBlock(at now: Instant) -> ReportBlock? {
        receivedCount > receivedBefore ? block(at: now) : nil
    }

    /// Returns the last report block about this source, which has left; nil if no packet has ever arrived.
    package func lastBlock(at now: Instant) -> ReportBlock? { receivedCount > 0 ? block(at: now) : nil }

    private func block(at now: Instant) -> ReportBlock {
        let expected = expectedCount - expectedBefore
        let lost = expected - (receivedCount - receivedBefore)
        return ReportBlock(
            ssrc: ssrc,
            fractionLost: lost > 0 ? UInt8(clamping: lost * 256 / expected) : 0,
            cumulativeLost: min(max(cumulativeLost, -0x80_0000), 0x7F_FFFF),
            extendedHighestSequenceNumber: UInt32(truncatingIfNeeded: highest),
            jitter: jitter,
            lastSenderReport: lastSenderReport?.time,
            delaySinceLastSenderReport: lastSenderReport.map { max(now - $0.arrival, .zero) } ?? .zero)
    }
}

extension ReceptionStatistics {
    /// The sequence number with which counting began.
    public var firstSequenceNumber: SequenceNumber { SequenceNumber(rawValue: UInt16(truncatingIfNeeded: base)) }
    /// The highest sequence number so far.
    public var highestSequenceNumber: SequenceNumber { SequenceNumber(rawValue: UInt16(truncatingIfNeeded: highest)) }

    /// The number of packets sent, from the first sequence number to the highest.
    public var expectedCount: Int { receivedCount == 0 ? 0 : Int(highest - base + 1) }

    /// The number of packets lost since the beginning or the last restart; below zero if duplicates outnumber losses.
    public var cumulativeLost: Int { expectedCount - receivedCount }

    /// Whether each of the newest 32 packets has arrived. A packet that has not may still come.
    package var hasRecentPackets: Bool {
        let count = min(Int(highest - base) + 1, Self.patience)
        let newest: UInt128 = (1 << UInt128(count)) - 1
        return history & newest == newest
    }

    /// Interarrival jitter, in frames at the payload's clock rate. This is the difference between the spacing of
    /// packets at arrival and their spacing at sending, smoothed over about sixteen packets.
    public var jitter: FrameCount { FrameCount(Int(min(scaledJitter >> 4, Int64(UInt32.max)))) }

    /// Returns the position of a packet, by RFC 3550 appendix A.1 but without its probation of new sources.
    private mutating func place(_ sequenceNumber: SequenceNumber, isRetransmission: Bool) -> Reception {
        guard receivedCount > 0 else {
            begin(at: sequenceNumber)
            return .ahead(lost: 0)
        }
        let step = sequenceNumber.distance(after: SequenceNumber(rawValue: UInt16(truncatingIfNeeded: highest)))
        switch step {
        case 1..<Self.maximumDropout:
            countLosses(before: step)
            highest += Int64(step)
            history = history << UInt128(step) | 1
            unaskedHistory = unaskedHistory << UInt128(step) | (isRetransmission ? 0 : 1)
            expectedAfterJump = nil
            return .ahead(lost: step - 1)
        case (1 - Self.maximumMisorder)...0:
            let bit: UInt128 = 1 << UInt128(-step)
            guard history & bit == 0 else { return .duplicate }
            history |= bit
            if !isRetransmission { unaskedHistory |= bit }
            return .reordered(by: -step)
        case _ where sequenceNumber == expectedAfterJump:
            begin(at: sequenceNumber)
            restartCount += 1
            return .restarted
        default:
            expectedAfterJump = sequenceNumber.advanced(by: 1)
            return .stray
        }
    }

    /// Counts packets as received or lost when the highest sequence number is about to rise by `step`. Counts those
    /// packets that will thereby become `patience` packets old.
    private mutating func countLosses(before step: Int) {
        for index in (0..<step).reversed() {
            let age = Self.patience + index - step
            guard Int64(age) <= highest - base else { continue }
            losses.count(isLost: age < 0 || unaskedHistory & (1 << UInt128(age)) == 0)
        }
    }

    private mutating func begin(at sequenceNumber: SequenceNumber) {
        base = Int64(sequenceNumber.rawValue)
        highest = base
        history = 1
        unaskedHistory = 1
        expectedAfterJump = nil
        receivedCount = 0
        duplicateCount = 0
        reorderedCount = 0
        losses = BurstMetrics()
        expectedBefore = 0
        receivedBefore = 0
        lastTransit = nil
        scaledJitter = 0
    }

    /// Measures the jitter as in RFC 3550 appendix A.8: in timestamp units, as a running mean in integers. The clock
    /// may start anywhere and wrap, because only differences are used.
    private mutating func measureJitter(_ timestamp: RTPTimestamp, at now: Instant) {
        let (seconds, rest) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let arrival = seconds &* Int64(rate.hertz) &+ rest * Int64(rate.hertz) / 1_000_000_000
        let transit = UInt32(truncatingIfNeeded: arrival) &- timestamp.rawValue
        defer { lastTransit = transit }
        guard let lastTransit else { return }
        let difference = Int64(Int32(bitPattern: transit &- lastTransit).magnitude)
        scaledJitter += difference - ((scaledJitter + 8) >> 4)
    }
}
