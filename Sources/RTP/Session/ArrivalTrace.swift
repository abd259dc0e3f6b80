internal import TenfourAudioCore
internal import TenfourPackets

/// How a source's packets come: which were lost, how fast the fastest is, what is missing still, and what it takes to get
/// it back.
struct ArrivalTrace: Sendable {
    var roundTrip = RoundTrip()
    /// How far playout lies behind the fastest packet, as the wiring said last.
    var playoutDelay: Duration?
    private(set) var missing = NACKList()
    private(set) var repair = RecoveryDelay()

    private var pattern = LossPattern()
    private var timestamps = Unwrapper()
    /// Of packets, arrival less timestamp, in nanoseconds.
    private var transit = RecentMinimum()
    private var frameCount = FrameCount(960)
    private var last: (place: Instant, arrival: Instant)?
    /// How much later than usual packets come, at the most.
    private var lateness = RecentMaximum()
    private var farthestCopy: (distance: Int, at: Instant)?
    private var tailDeadline: Instant?
    private var lastTrial: Instant?

    /// What reports and decisions look back on.
    private static let window = Duration.seconds(5)
    /// Loss ends so long after the last packet was lost.
    static let memoryOfLoss = window
    /// Of a stream that goes on: while nothing is sent, nothing is forgotten.
    private static let memoryOfCopies = Duration.milliseconds(500)
    /// Timestamps that jump so far are another timeline.
    private static let longestTransitChange: Int64 = 10_000_000_000
    private static let step = FrameCount(960)
    private static let trialInterval = Duration.seconds(2)
    /// From a packet's time until it is missed, where the one before it came; where that is lost as well, the next that comes
    /// tells of both.
    static let shortestTail = Duration.milliseconds(10)
    /// A packet as late as the latest is not missing yet.
    private static let slack = Duration.milliseconds(1)

    var frame: Duration { frameCount.duration() }
    var windowCount: Int { min(max(Int(Self.window / max(frame, .microseconds(2_500))), 50), 1_024) }
    var recentLoss: LossSummary { pattern.summary(ofLast: windowCount) }
    var recentBursts: BurstMetrics { pattern.bursts(ofLast: windowCount) }

    func lossReport(on source: SSRC) -> LossRLE { pattern.report(on: source, ofLast: windowCount) }

    /// Whether packets were lost within so long: five seconds, where it is not said.
    func isLossy(at now: Instant, within time: Duration = memoryOfLoss) -> Bool {
        missing.lastLoss.map { now - $0 < time } ?? false
    }

    func isRetransmission(_ header: RTPHeader, at now: Instant) -> Bool {
        missing.isRetransmission(
            header.sequenceNumber, startsTalkspurt: header.marker, roundTrip: roundTrip, at: now)
    }

    mutating func packetArrived(
        _ header: RTPHeader, _ frameCount: FrameCount?, _ reception: ReceptionStatistics.Reception,
        isRetransmission: Bool,
        at now: Instant
    ) {
        switch reception {
        case .stray, .duplicate:
            return
        case .restarted:
            begin()
            pattern.arrived(ahead: 0, as: header.sequenceNumber, isRetransmission: false)
            note(header, frameCount, ahead: 0, isRetransmission: false, at: now)
        case .ahead(let lost):
            pattern.arrived(ahead: lost, as: header.sequenceNumber, isRetransmission: isRetransmission)
            note(header, frameCount, ahead: lost, isRetransmission: isRetransmission, at: now)
        case .reordered(let distance):
            pattern.arrived(behindHighest: distance, isRetransmission: isRetransmission)
            if missing.isOvertaken(header.sequenceNumber, at: now) {
                measure(now.nanoseconds &- time(of: header), at: now)
            }
            if let answer = missing.arrivedLate(header.sequenceNumber, isRetransmission: isRetransmission, at: now) {
                roundTrip.measuredByNACK(after: answer, at: now)
            }
        }
    }

    /// Whether a copy of that packet is to be handed on: it is missing, or from before we began to listen. `distance` is from
    /// the packet with the copy, one that just came.
    func wants(_ sequenceNumber: SequenceNumber, distance: Int) -> Bool {
        missing.contains(sequenceNumber) || distance >= pattern.count
    }

    /// A copy of a packet that has not come is handed on in its place.
    mutating func copyArrived(of sequenceNumber: SequenceNumber, at now: Instant) {
        missing.recovered(sequenceNumber, at: now)
    }

    /// A packet had a copy of the one so many before it.
    mutating func copySeen(distance: Int, at now: Instant) {
        if let farthestCopy, farthestCopy.distance > distance, now - farthestCopy.at < Self.memoryOfCopies { return }
        farthestCopy = (distance, now)
    }

    private mutating func begin() {
        pattern.reset()
        missing.reset()
        timestamps = Unwrapper()
        transit = RecentMinimum()
        last = nil
        tailDeadline = nil
    }

    private mutating func note(
        _ header: RTPHeader, _ sound: FrameCount?, ahead lost: Int, isRetransmission: Bool, at now: Instant
    ) {
        frameCount = sound ?? frameCount
        let time = time(of: header)
        if !isRetransmission { measure(now.nanoseconds &- time, at: now) }
        let place = Instant(nanoseconds: time &+ (transit.least ?? now.nanoseconds &- time))
        let frame = frame
        missing.arrived(
            ahead: lost, as: header.sequenceNumber, isRetransmission: isRetransmission, startsTalkspurt: header.marker,
            at: now
        ) { place - frame * $0 }
        last = (place, now)
        // Opus codes silence in a packet or two of nothing, and then is silent.
        let goesOn = header.payload.count > 2
        tailDeadline = goesOn ? now + frame + max(Self.shortestTail, latest(at: place, now) + Self.slack) : nil
    }

    /// In nanoseconds: 1/48 000 s are 62 500/3.
    private mutating func time(of header: RTPHeader) -> Int64 { timestamps.extend(header.timestamp) &* 62_500 / 3 }

    private mutating func measure(_ transit: Int64, at now: Instant) {
        if let usual = self.transit.least, (transit &- usual).magnitude > UInt64(Self.longestTransitChange) {
            self.transit = RecentMinimum()
            lateness = RecentMaximum()
        }
        self.transit.insert(transit, at: now)
        lateness.insert(max(transit &- (self.transit.least ?? transit), 0), at: now)
    }

    /// How much longer than the packet that came last the next may take, if it is as slow as the slowest.
    private func latest(at place: Instant, _ now: Instant) -> Duration {
        max(.nanoseconds(min(lateness.most ?? 0, 1_000_000_000)) - (now - place), .zero)
    }

    // MARK: - Requests

    /// Time has passed or a packet has come: what is lost is found to be so. `depth` is what playout may wait for.
    mutating func review(depth: Duration, asks: Bool, at now: Instant) {
        if let tailDeadline, tailDeadline <= now {
            self.tailDeadline = nil
            roundTrip.forgetWhatIsOld(at: now)
            if asks, roundTrip.value != nil, let last { missing.suspectTail(place: last.place + frame, at: now) }
        }
        missing.review(depth: depth, at: now)
        if missing.hasDueLoss(at: now) { roundTrip.forgetWhatIsOld(at: now) }
    }

    /// The packets to be asked for now, at most `limit`; none where nothing is due, or an answer would come too late.
    mutating func nextRequests(depth: Duration, limit: Int, at now: Instant) -> [SequenceNumber] {
        defer { missing.postpone(for: nil, at: now) }
        guard hasDueRequest(depth: depth, at: now) else { return [] }
        var limit = limit
        if !missing.isResponsive {
            // Nobody has answered for long: a question now and then shows whether that is over.
            if let lastTrial, now - lastTrial < Self.trialInterval { return [] }
            lastTrial = now
            limit = 1
        }
        return missing.ask(depth: depth, roundTrip: roundTrip, limit: limit, at: now)
    }

    func hasDueRequest(depth: Duration, at now: Instant) -> Bool {
        missing.isRequestDue(depth: depth, roundTrip: roundTrip, at: now)
    }

    mutating func postponeRequests(for pause: Duration, at now: Instant) { missing.postpone(for: pause, at: now) }

    func nextDeadline(asks: Bool) -> Instant? {
        let question = missing.nextDeadline(asks: asks)
        guard asks, let tailDeadline else { return question }
        return question.map { min($0, tailDeadline) } ?? tailDeadline
    }

    // MARK: - Depth

    /// How deep playout should be, as far as `limit` allows, when packets are asked for or not; all of it where loss is expected.
    mutating func adviseDepth(
        limit: Duration, asks: Bool, expectsLoss: Bool, concealment: PacketLossConcealment, at now: Instant
    ) {
        var advice = RecoveryDelay()
        advice.limit = FrameCount(limit)
        if let farthestCopy, let last, last.arrival - farthestCopy.at < Self.memoryOfCopies {
            advice.lookAhead = FrameCount(farthestCopy.distance * frameCount.rawValue)
        }
        if expectsLoss {
            advice.retransmissionTime = advice.limit
        } else if asks, missing.isResponsive, isLossy(at: now) {
            let loss = recentLoss
            let prediction = PredictedScore(
                lossShare: loss.share, meanBurst: loss.meanBurstLength, roundTrip: roundTrip.value, depth: limit,
                frame: frame, concealment: concealment)
            // What seconds of loss tell goes up and down by chance, and each change of depth bends the sound: it goes up in
            // steps, and comes down when the loss is over.
            let worthwhile = FrameCount(RecoveryDelay.worthwhileDepth(prediction))
            let isWorthAStep = worthwhile >= repair.retransmissionTime + Self.step || worthwhile == advice.limit
            advice.retransmissionTime =
                isWorthAStep ? max(worthwhile, repair.retransmissionTime) : repair.retransmissionTime
        }
        repair = advice
    }
}
