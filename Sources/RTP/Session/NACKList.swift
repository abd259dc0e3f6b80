internal import TenfourAudioCore
internal import TenfourPackets

/// What one source sent and has not come: since when that is known, until when it is of use, and how often it was asked
/// for.
///
/// At most `capacity` at a time; the oldest are given up first.
struct NACKList: Sendable {
    private(set) var entries: [Entry] = []
    /// Numbers asked for, and those that then came; each once.
    private(set) var requestedCount = 0
    private(set) var retransmittedCount = 0
    /// Asked for in vain since the last answer.
    private(set) var unansweredRun = 0
    /// When a loss was last beyond doubt.
    private(set) var lastLoss: Instant?
    /// How much later than those behind them packets came that were only overtaken.
    private(set) var reordering = RecentMaximum()

    private var highest: Int64?

    struct Entry: Sendable {
        var number: Int64
        /// When it would have come at the latest, had it been as fast as the fastest; playout adds its depth to this.
        var place: Instant
        var noticed: Instant
        /// Zero until the wait for those that were only overtaken is over.
        var requestedCount = 0
        var firstAsked: Instant?
        /// When it is to be asked for, next.
        var nextRequest: Instant
        /// Nothing behind it has come, so it may never have been sent.
        var isTail: Bool
        var isLoss = false
        /// A copy of it has come: it is missed no more, but the answer, which may be on its way, is to be known for one.
        var isCopied = false
    }

    static let capacity = 128
    /// Packets that come still later are another matter.
    private static let longestReordering = Duration.milliseconds(60)
    /// How long after its time an answer is still known for what it is.
    private static let memory = Duration.seconds(1)

    init() { entries.reserveCapacity(Self.capacity) }

    /// Whether questions are answered at all, as far as one can tell.
    var isResponsive: Bool { unansweredRun < Self.patience }
    private static let patience = 24

    /// How long a packet may have been overtaken.
    var wait: Duration { .nanoseconds(reordering.most ?? 0) }

    /// When something has to be done.
    func nextDeadline(asks: Bool) -> Instant? {
        entries.lazy.filter { !$0.isCopied && (asks || !$0.isLoss && !$0.isTail) }.map(\.nextRequest).min()
    }

    func contains(_ sequenceNumber: SequenceNumber) -> Bool {
        index(of: sequenceNumber).map { !entries[$0].isCopied } ?? false
    }

    /// Whether a packet that comes now comes because it was asked for: not sooner than an answer can. What nothing behind it
    /// had shown to be lost must also come when an answer does, or it was only late; `startsTalkspurt` where it was sent later.
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

    /// A packet came, `lost` behind the one that was highest before. `place` tells when one so many packets earlier would
    /// have come at the latest, and may be far out where a silence lies between: where it `startsTalkspurt`.
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
            // Suspected at the end of a talkspurt, it may have been the first of this one.
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

    /// A packet came that others had overtaken, or that was asked for. Returns the time from question to answer where that
    /// can be told.
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

    /// Whether a packet that comes now was only overtaken, beyond doubt.
    func isOvertaken(_ sequenceNumber: SequenceNumber, at now: Instant) -> Bool {
        guard let index = index(of: sequenceNumber), entries[index].requestedCount == 0 else { return false }
        return now - entries[index].noticed <= Self.longestReordering
    }

    /// A copy of it has come: it need not be asked for.
    mutating func recovered(_ sequenceNumber: SequenceNumber, at now: Instant) {
        guard let index = index(of: sequenceNumber) else { return }
        lastLoss = now
        if entries[index].requestedCount > 0 {
            entries[index].isCopied = true
            return
        }
        settle(entries[index].number, isRetransmission: false, at: now)
    }

    /// The packet behind the highest may be missing as well, though nothing behind it can tell.
    mutating func suspectTail(place: Instant, at now: Instant) {
        guard let highest, !entries.contains(where: { $0.number > highest }) else { return }
        insert(Entry(number: highest + 1, place: place, noticed: now, nextRequest: now, isTail: true))
    }

    /// Beyond doubt now: what was to come has not, in the time that those overtaken take. Gives up what is over.
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

    /// Whether it is time to ask for something, be it of use or not.
    func hasDueLoss(at now: Instant) -> Bool {
        entries.contains { $0.isLoss && !$0.isCopied && $0.nextRequest <= now }
    }

    /// Whether one of them is due to be asked for, so that the answer comes within `depth`.
    func isRequestDue(depth: Duration, roundTrip: RoundTrip, at now: Instant) -> Bool {
        entries.contains { $0.nextRequest <= now && isOfUse($0, depth: depth, roundTrip: roundTrip, at: now) }
    }

    /// All that an answer can still bring in time, to be asked for now; each is due again a little more than a round trip
    /// later. At most `limit`, and those that time is left for longest go first.
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

    /// What is due and will not be asked for, because it would come too late or because nobody answers: it only waits to be
    /// forgotten, or `for` so long.
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
    /// How much later than the round trip says an answer may come.
    static let slack = Duration.milliseconds(2)
    /// Who is asked sooner again does not answer (`RTPSession.shortestInterval`, and a little time on the way).
    private static let leastInterval = Duration.milliseconds(12)
    /// While the round trip is not known, what comes sooner than this is taken for overtaken.
    private static let leastRoundTrip = Duration.milliseconds(10)
    /// How finely reports tell the round trip: in 65536ths of a second.
    private static let resolution = Duration.microseconds(16)
    /// A talkspurt may have ended: then there is nobody to answer.
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

    /// Something behind it has come: it was sent, however little a question about it was worth till now.
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

/// The most of a number over the last five to ten seconds.
struct RecentMaximum: Hashable, Sendable {
    private var least = RecentMinimum()

    var most: Int64? { least.least.map { -$0 } }

    mutating func insert(_ number: Int64, at now: Instant) { least.insert(-number, at: now) }
}
