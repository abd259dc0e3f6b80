internal import TenfourAudioCore
internal import TenfourPackets

/// The missing packets of one source. For each packet the list keeps three values: the time at which the gap was
/// noticed, the time from which playout needs the packet, and the number of requests.
///
/// Holds at most `capacity` packets; when it is full, the oldest is dropped.
struct NACKList: Sendable {
    private(set) var entries: [Entry] = []
    /// The number of packets that were requested. A packet requested several times counts once.
    private(set) var requestedCount = 0
    /// The number of packets that arrived as retransmissions, after a request.
    private(set) var retransmittedCount = 0
    /// The number of requested packets that never arrived, counted since the last retransmission arrived.
    private(set) var unansweredRun = 0
    /// The time at which a packet was last found to be lost, not only reordered.
    private(set) var lastLoss: Instant?
    /// The largest recent delay of a reordered packet, in nanoseconds. It is counted from the arrival of the packet
    /// that showed the gap.
    private(set) var reordering = RecentMaximum()

    private var highest: Int64?

    struct Entry: Sendable {
        var number: Int64
        /// The estimated time at which the packet would have arrived with the smallest transit time. The true time may
        /// be earlier, but not later. Playout needs the packet at this time plus the playout delay.
        var place: Instant
        /// The time at which the gap was noticed.
        var noticed: Instant
        /// The number of requests sent for the packet. None is sent before the wait for reordering (`wait`) is over.
        var requestedCount = 0
        /// The time of the first request for the packet; nil before this request.
        var firstAsked: Instant?
        /// The time at which the next request for the packet is due. Before the packet counts as lost, the time at
        /// which the wait for reordering ends.
        var nextRequest: Instant
        /// Whether no later packet has arrived. If so, this packet is only suspected missing, because it may never have
        /// been sent.
        var isTail: Bool
        /// Whether the wait for reordering is over, so that the packet counts as lost.
        var isLoss = false
        /// Whether a redundant copy has arrived. The packet is no longer missing; the entry stays so that its
        /// retransmission is recognized.
        var isCopied = false
    }

    static let capacity = 128
    /// The maximum delay of a reordered packet. A packet that arrives later than this after the gap was noticed does
    /// not count as reordered.
    private static let longestReordering = Duration.milliseconds(60)
    /// The time for which an entry is kept after the playout time of its packet, so that a late retransmission is
    /// recognized.
    private static let memory = Duration.seconds(1)

    init() { entries.reserveCapacity(Self.capacity) }

    /// Whether the source answers requests. It counts as not answering after 24 requested packets in a row that never
    /// arrived.
    var isResponsive: Bool { unansweredRun < Self.patience }
    private static let patience = 24

    /// The time for which a missing packet may still be a reordered one, and is not yet requested.
    var wait: Duration { .nanoseconds(reordering.most ?? 0) }

    /// Returns the next time at which a packet counts as lost or a request is due; nil if nothing is to be done. `asks`
    /// is true if lost packets are requested.
    func nextDeadline(asks: Bool) -> Instant? {
        entries.lazy.filter { !$0.isCopied && (asks || !$0.isLoss && !$0.isTail) }.map(\.nextRequest).min()
    }

    func contains(_ sequenceNumber: SequenceNumber) -> Bool {
        index(of: sequenceNumber).map { !entries[$0].isCopied } ?? false
    }

    /// Whether a packet that arrives now is the retransmission of a requested packet. At least 3/4 of the smallest
    /// round trip must have passed since the first request. The packet may also be an original that was sent late, if
    /// it was only suspected missing (`isTail`) and the round trip is known. It counts as such an original if it starts
    /// a talkspurt, or arrives later than a retransmission would.
    func isRetransmission(
        _ sequenceNumber: SequenceNumber, startsTalkspurt: Bool, roundTrip: RoundTrip, at now: Instant
    ) -> Bool {
        guard let index = index(of: sequenceNumber), let asked = entries[index].firstAsked else { return false }
        let passed = now - asked
        let least = roundTrip.least.map { ($0 - Self.resolution) * 3 / 4 } ?? Self.leastRoundTrip
        guard passed >= least else { return false }
        guard entries[index].isTail, let roundTrip = roundTrip.value else { return true }
        return !startsTalkspurt
            && passed <= roundTrip * entries[index].requestedCount + roundTrip / 2 + .milliseconds(5)
    }

    /// Records a packet that is newer than all earlier arrivals. The `lost` packets between the previous newest one and
    /// this one are missing. `place(n)` returns the `place` of the packet n packets earlier. `startsTalkspurt` is true
    /// if a pause precedes the packet; the result of `place` may then be wrong.
    mutating func arrived(
        ahead lost: Int, as sequenceNumber: SequenceNumber, isRetransmission: Bool, startsTalkspurt: Bool = false,
        at now: Instant, place: (Int) -> Instant
    ) {
        guard let before = highest else {
            highest = Int64(sequenceNumber.rawValue)
            return
        }
        let number = before + 1 + Int64(lost)
        highest = number
        settle(number, isRetransmission: isRetransmission, at: now)
        for index in entries.indices where entries[index].isTail {
            // Keeps the time of a suspected packet if a talkspurt starts, because it may be the first packet of that
            // talkspurt.
            if !startsTalkspurt { entries[index].place = place(Int(number - entries[index].number)) }
            foundToBeMissing(index, at: now)
        }
        for missing in max(before + 1, number - Int64(Self.capacity))..<number
        where !entries.contains(where: { $0.number == missing }) {
            insert(
                Entry(
                    number: missing, place: place(Int(number - missing)), noticed: now, nextRequest: now + wait,
                    isTail: false))
        }
    }

    /// Records a reordered or retransmitted packet, which arrived after later packets. If the packet was requested
    /// exactly once, returns the time from the request to the retransmission; nil otherwise.
    mutating func arrivedLate(_ sequenceNumber: SequenceNumber, isRetransmission: Bool, at now: Instant) -> Duration? {
        guard let index = index(of: sequenceNumber) else { return nil }
        let entry = entries[index]
        let isSure = isRetransmission && entry.requestedCount == 1
        settle(entry.number, isRetransmission: isRetransmission, at: now)
        if !isRetransmission, now - entry.noticed <= Self.longestReordering {
            reordering.insert(Instant.nanoseconds(in: now - entry.noticed), at: now)
        }
        return isSure ? entry.firstAsked.map { now - $0 } : nil
    }

    /// Whether a packet that arrives now is certainly only reordered: it was never requested and was missing for at
    /// most 60 ms.
    func isOvertaken(_ sequenceNumber: SequenceNumber, at now: Instant) -> Bool {
        guard let index = index(of: sequenceNumber), entries[index].requestedCount == 0 else { return false }
        return now - entries[index].noticed <= Self.longestReordering
    }

    /// Records that a redundant copy of a missing packet has arrived, so that it need not be requested.
    mutating func recovered(_ sequenceNumber: SequenceNumber, at now: Instant) {
        guard let index = index(of: sequenceNumber) else { return }
        lastLoss = now
        if entries[index].requestedCount > 0 {
            entries[index].isCopied = true
            return
        }
        settle(entries[index].number, isRetransmission: false, at: now)
    }

    /// Records that the packet after the newest one is suspected missing, although no later packet has arrived. A
    /// request for it is due now.
    mutating func suspectTail(place: Instant, at now: Instant) {
        guard let highest, !entries.contains(where: { $0.number > highest }) else { return }
        insert(Entry(number: highest + 1, place: place, noticed: now, nextRequest: now, isTail: true))
    }

    /// Marks missing packets as lost when the wait for reordering is over. Removes entries one second after the playout
    /// time of their packet, which is `place` plus `depth`.
    mutating func review(depth: Duration, at now: Instant) {
        for index in entries.indices
        where !entries[index].isLoss && !entries[index].isTail && entries[index].nextRequest <= now {
            entries[index].isLoss = true
            lastLoss = now
        }
        entries.removeAll { entry in
            let isOver = entry.place + depth + Self.memory < now
            if isOver, entry.requestedCount > 0, !entry.isTail, !entry.isCopied { unansweredRun += 1 }
            return isOver || now < entry.noticed
        }
    }

    /// Whether a request for a lost packet is due, even if the retransmission would arrive too late.
    func hasDueLoss(at now: Instant) -> Bool {
        entries.contains { $0.isLoss && !$0.isCopied && $0.nextRequest <= now }
    }

    /// Whether a request is due whose retransmission can arrive within the playout delay `depth`.
    func isRequestDue(depth: Duration, roundTrip: RoundTrip, at now: Instant) -> Bool {
        entries.contains { $0.nextRequest <= now && isOfUse($0, depth: depth, roundTrip: roundTrip, at: now) }
    }

    /// Returns the packets to request now, in order of their sequence numbers: all lost or suspected packets, due or
    /// not, whose retransmission can arrive in time. If there are more than `limit`, returns those with the most time
    /// left. A packet that was due becomes due again a little more than a round trip later; 200 ms later if the round
    /// trip is unknown.
    mutating func ask(depth: Duration, roundTrip: RoundTrip, limit: Int, at now: Instant) -> [SequenceNumber] {
        var numbers: [Int64] = []
        for index in entries.indices.reversed() where numbers.count < limit {
            let entry = entries[index]
            guard entry.isLoss || entry.isTail, isOfUse(entry, depth: depth, roundTrip: roundTrip, at: now) else {
                continue
            }
            numbers.append(entry.number)
            if entry.requestedCount == 0, !entry.isTail { requestedCount += 1 }
            entries[index].requestedCount += 1
            entries[index].firstAsked = entry.firstAsked ?? now
            if entry.nextRequest <= now {
                let interval = roundTrip.value.map { max($0 + Self.slack, Self.leastInterval) }
                entries[index].nextRequest = now + (interval ?? Self.unknownRoundTrip)
            }
        }
        return numbers.sorted().map { SequenceNumber(rawValue: UInt16(truncatingIfNeeded: $0)) }
    }

    /// Postpones the requests that are due but not sent, because the retransmission would arrive too late or the source
    /// does not answer. They become due again after `pause`. If `pause` is nil, they become due again after two
    /// seconds; most of the packets have been removed from the list by then.
    mutating func postpone(for pause: Duration?, at now: Instant) {
        for index in entries.indices where entries[index].nextRequest <= now {
            entries[index].nextRequest = now + (pause ?? .seconds(2))
        }
    }

    mutating func reset() {
        entries.removeAll(keepingCapacity: true)
        highest = nil
    }

    private static let unknownRoundTrip = Duration.milliseconds(200)
    /// The time that a retransmission may take in addition to the measured round trip.
    static let slack = Duration.milliseconds(2)
    /// The minimum time between two requests for a packet. A sender refuses a request within 10 ms of the one before
    /// (`Retransmitter.shortestInterval`); 2 ms are added for the variation of the network delay.
    private static let leastInterval = Duration.milliseconds(12)
    /// The minimum time from a request to its retransmission, if the round trip is unknown. A packet that arrives
    /// sooner counts as reordered.
    private static let leastRoundTrip = Duration.milliseconds(10)
    /// The resolution of round trips measured by reports: 1/65536 s.
    private static let resolution = Duration.microseconds(16)
    /// The maximum number of requests for a packet that is only suspected missing. More are not worthwhile, because the
    /// packet was never sent if the talkspurt has ended.
    private static let maximumTailRequests = 2

    private func isOfUse(_ entry: Entry, depth: Duration, roundTrip: RoundTrip, at now: Instant) -> Bool {
        if entry.isCopied || entry.isTail && entry.requestedCount >= Self.maximumTailRequests { return false }
        return now + (roundTrip.least ?? .zero) <= entry.place + depth
    }

    private func index(of sequenceNumber: SequenceNumber) -> Int? {
        entries.firstIndex { UInt16(truncatingIfNeeded: $0.number) == sequenceNumber.rawValue }
    }

    private mutating func insert(_ entry: Entry) {
        if entries.count == Self.capacity { entries.removeFirst() }
        entries.append(entry)
    }

    /// Marks a suspected packet as missing, because a later packet has arrived and so it was certainly sent.
    private mutating func foundToBeMissing(_ index: Int, at now: Instant) {
        entries[index].isTail = false
        let isAsked = entries[index].requestedCount > 0
        if isAsked { requestedCount += 1 }
        entries[index].nextRequest =
            isAsked ? min(entries[index].nextRequest, now + Self.unknownRoundTrip) : now + wait
    }

    private mutating func settle(_ number: Int64, isRetransmission: Bool, at now: Instant) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        if isRetransmission {
            retransmittedCount += 1
            if entries[index].isTail { requestedCount += 1 }
            unansweredRun = 0
            lastLoss = now
        }
        entries.remove(at: index)
    }
}

/// The largest value of the last five to ten seconds.
struct RecentMaximum: Hashable, Sendable {
    private var least = RecentMinimum()

    var most: Int64? { least.least.map { -$0 } }

    mutating func insert(_ number: Int64, at now: Instant) { least.insert(-number, at: now) }
}
