public import TenfourAudioCore

/// What one receiver knows of one source: how much arrived, in what order and how evenly (RFC 3550 section 6.4 and
/// appendix A.1, A.3, A.8).
///
/// Fed with every RTP packet of the source, it fills the report block that goes back to it. Opens no socket, reads no
/// clock. A new source is believed from its first packet on; who may be a source is the caller's question.
public struct ReceptionStatistics: Sendable {
    public let ssrc: SSRC
    /// Of the payload's clock.
    public let rate: SampleRate

    /// Packets since the beginning or the last restart, duplicates among them as RFC 3550 wants it.
    public private(set) var receivedCount = 0
    /// Received packets that had come before.
    public private(set) var duplicateCount = 0
    /// Received packets that came after one sent later.
    public private(set) var reorderedCount = 0
    /// Which packets the network brought and which it did not, in their order, up to 32 before the newest: a later one is no
    /// loss yet. One that came because it was asked for had been lost.
    public private(set) var losses = BurstMetrics()
    /// How often the source began anew with another sequence.
    public private(set) var restartCount = 0

    private var base: Int64 = 0
    private var highest: Int64 = 0
    /// Bit n: the packet n before the highest has come.
    private var history: UInt128 = 0
    /// The same without those that came because they were asked for.
    private var unaskedHistory: UInt128 = 0
    /// After a jump that is not believed yet, the one packet that would confirm it.
    private var expectedAfterJump: SequenceNumber?

    private var lastTransit: UInt32?
    /// In sixteenths of the clock's period.
    private var scaledJitter: Int64 = 0

    private var lastSenderReport: (time: ShortNTPTime, arrival: Instant)?
    private var expectedBefore = 0
    private var receivedBefore = 0

    /// Further ahead is a jump, not a loss.
    public static let maximumDropout = 3000
    /// A packet so far behind may yet come.
    private static let patience = 32
    /// Further behind is a jump, not a late packet.
    private static let maximumMisorder = 100

    public init(ssrc: SSRC, rate: SampleRate = .opus) {
        self.ssrc = ssrc
        self.rate = rate
    }

    /// The position of a packet in its stream, by its sequence number.
    public enum Reception: Hashable, Sendable {
        /// The next, or one further on: `lost` packets between are missing so far.
        case ahead(lost: Int)
        /// `by` packets later than its place.
        case reordered(by: Int)
        case duplicate
        /// Far from all that came before. Not counted; the next one tells whether it was a stray or a restart.
        case stray
        /// The second in a row after a jump: the source has begun anew, and so has all counting here.
        case restarted
    }

    /// Takes note of a packet that arrived at `now`. When a packet `isRetransmission` says nothing of how evenly packets come.
    @discardableResult
    public mutating func packetArrived(
        _ sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, isRetransmission: Bool = false, at now: Instant
    ) -> Reception {
        let reception = place(sequenceNumber, isRetransmission: isRetransmission)
        switch reception {
        case .stray: return reception
        case .duplicate: duplicateCount += 1
        case .reordered: reorderedCount += 1
        case .ahead, .restarted: break
        }
        receivedCount += 1
        if reception != .duplicate, !isRetransmission { measureJitter(timestamp, at: now) }
        return reception
    }

    /// Takes note of a sender report of this source, to be answered in the next block.
    public mutating func senderReportArrived(_ report: SenderReport, at now: Instant) {
        lastSenderReport = (report.time.short, now)
    }

    /// The block about this source for a report sent at `now`, and the end of the interval that its fraction speaks of.
    /// Nil when no packet has arrived since the last block: RFC 3550 section 6.4 leaves such a source out.
    public mutating func reportBlock(at now: Instant) -> ReportBlock? {
        guard receivedCount > receivedBefore else { return nil }
        let expected = expectedCount - expectedBefore
        let lost = expected - (receivedCount - receivedBefore)
        expectedBefore = expectedCount
        receivedBefore = receivedCount
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
    /// The sequence number that counting began with.
    public var firstSequenceNumber: SequenceNumber { SequenceNumber(rawValue: UInt16(truncatingIfNeeded: base)) }
    /// The highest sequence number so far.
    public var highestSequenceNumber: SequenceNumber { SequenceNumber(rawValue: UInt16(truncatingIfNeeded: highest)) }

    /// From the first sequence number to the highest, what was sent as far as one can tell.
    public var expectedCount: Int { receivedCount == 0 ? 0 : Int(highest - base + 1) }

    /// Below zero where duplicates outnumber losses.
    public var cumulativeLost: Int { expectedCount - receivedCount }

    /// Interarrival jitter: how much the time between two packets differs from the time between their sound, smoothed
    /// over some sixteen packets.
    public var jitter: FrameCount { FrameCount(Int(min(scaledJitter >> 4, Int64(UInt32.max)))) }

    /// RFC 3550 appendix A.1, without its probation.
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

    /// The highest moves on by `step`: as many packets are now old enough to be missed if they have not come.
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

    /// RFC 3550 appendix A.8: the arrival in the unit of timestamps, and a running mean in integers. Its clock may wrap
    /// and start anywhere, as only differences count.
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
