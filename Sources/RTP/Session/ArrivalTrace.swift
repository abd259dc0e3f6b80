internal import TenfourAudioCore
internal import TenfourPackets

/// Follows the arrival of one source's packets. Records lost packets and the smallest transit time, and computes the
/// playout delay that the recovery of lost packets needs.
struct ArrivalTrace: Sendable {
    var roundTrip = RoundTrip()
    /// The playout delay that the caller last reported, measured from the arrival of the fastest packet; nil before the
    /// first report.
    var playoutDelay: Duration?
    private(set) var missing = NACKList()
    private(set) var repair = RecoveryDelay()

    private var pattern = LossPattern()
    private var timestamps = Unwrapper()
    /// The smallest transit time of recent packets, in nanoseconds. A transit time is the arrival less the timestamp.
    private var transit = RecentMinimum()
    private var frameCount = FrameCount(960)
    /// The arrival of the newest packet, and the time (`place`) at which it would have arrived with the smallest
    /// transit time.
    private var last: (place: Instant, arrival: Instant)?
    /// The largest difference between the transit time of a recent packet and the smallest transit time, in
    /// nanoseconds.
    private var lateness = RecentMaximum()
    /// The recent copy that was sent the longest time after its packet: this distance in packets, and the arrival of
    /// the copy.
    private var farthestCopy: (distance: Int, at: Instant)?
    /// The time at which the packet after the newest one is suspected missing; nil if no such packet is expected.
    private var tailDeadline: Instant?
    /// The time of the last request to a source that answers no requests.
    private var lastTrial: Instant?

    /// The duration of the recent past, five seconds, whose losses reports and decisions take into account.
    private static let window = Duration.seconds(5)
    /// The time for which a source counts as lossy after its last lost packet.
    static let memoryOfLoss = window
    /// The time for which the distance of a copy is remembered. It is compared with the arrival of the newest packet
    /// and not with the present time, so that nothing is forgotten during a pause.
    private static let memoryOfCopies = Duration.milliseconds(500)
    /// The maximum plausible change of the transit time, in nanoseconds: 10 s. After a larger change, measuring starts
    /// again, because the source's timestamps have jumped.
    private static let longestTransitChange: Int64 = 10_000_000_000
    /// The minimum rise of the playout delay for recovery, in frames: 20 ms.
    private static let step = FrameCount(960)
    /// The time between two requests to a source that answers no requests.
    private static let trialInterval = Duration.seconds(2)
    /// The minimum time after which the packet after the newest one is suspected missing, counted from the time at
    /// which it is due. Other missing packets are noticed when the next packet arrives.
    static let shortestTail = Duration.milliseconds(10)
    /// The time that is added to the largest recent lateness before a packet is suspected missing.
    private static let slack = Duration.milliseconds(1)

    var frame: Duration { frameCount.duration() }
    var windowCount: Int { min(max(Int(Self.window / max(frame, .microseconds(2_500))), 50), 1_024) }
    var recentLoss: LossSummary { pattern.summary(ofLast: windowCount) }
    var recentBursts: BurstMetrics { pattern.bursts(ofLast: windowCount) }

    func lossReport(on source: SSRC) -> LossRLE { pattern.report(on: source, ofLast: windowCount) }

    /// Whether a packet was lost within the last `time`. Default: five seconds.
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

    /// Whether the caller is to get a redundant copy of a packet. It is, if the packet is missing or was sent before we
    /// began to listen. The copy is in the packet that has just arrived; `distance` is the number of packets from the
    /// copied packet to that packet.
    func wants(_ sequenceNumber: SequenceNumber, distance: Int) -> Bool {
        missing.contains(sequenceNumber) || distance >= pattern.count
    }

    /// Records that a copy is passed on in place of a packet that has not arrived.
    mutating func copyArrived(of sequenceNumber: SequenceNumber, at now: Instant) {
        missing.recovered(sequenceNumber, at: now)
    }

    /// Records that a packet carried a copy of the packet `distance` packets earlier.
    mutating func copySeen(distance: Int, at now: Instant) {
        if let farthestCopy, farthestCopy.distance > distance, now - farthestCopy.at < Self.memoryOfCopies { return }
        farthestCopy = (distance, now)
    }

    /// Begins again, because another sender continues the source.
    mutating func restart() {
        begin()
        roundTrip = RoundTrip()
        farthestCopy = nil
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
        // Expects no next packet after silence: Opus codes silence in one or two packets of at most two bytes and then
        // sends nothing.
        let goesOn = header.payload.count > 2
        tailDeadline = goesOn ? now + frame + max(Self.shortestTail, latest(at: place, now) + Self.slack) : nil
    }

    /// Returns the unwrapped timestamp in nanoseconds: 1/48 000 s is 62 500/3 ns.
    private mutating func time(of header: RTPHeader) -> Int64 { timestamps.extend(header.timestamp) &* 62_500 / 3 }

    private mutating func measure(_ transit: Int64, at now: Instant) {
        if let usual = self.transit.least, (transit &- usual).magnitude > UInt64(Self.longestTransitChange) {
            self.transit = RecentMinimum()
            lateness = RecentMaximum()
        }
        self.transit.insert(transit, at: now)
        lateness.insert(max(transit &- (self.transit.least ?? transit), 0), at: now)
    }

    /// Returns the maximum time by which the next packet is expected to be later than the newest one. This is the
    /// largest recent lateness (at most 1 s) less the lateness of the newest packet (`now` less `place`), and at least
    /// zero.
    private func latest(at place: Instant, _ now: Instant) -> Duration {
        max(.nanoseconds(min(lateness.most ?? 0, 1_000_000_000)) - (now - place), .zero)
    }

    // MARK: - Losses and retransmission requests

    /// Updates the list of lost packets. Call it when time has passed or a packet has arrived. `depth` is the maximum
    /// time that playout may wait for a packet; `asks` is true if lost packets are requested.
    mutating func review(depth: Duration, asks: Bool, at now: Instant) {
        if let tailDeadline, tailDeadline <= now {
            self.tailDeadline = nil
            roundTrip.forgetWhatIsOld(at: now)
            if asks, roundTrip.value != nil, let last { missing.suspectTail(place: last.place + frame, at: now) }
        }
        missing.review(depth: depth, at: now)
        if missing.hasDueLoss(at: now) { roundTrip.forgetWhatIsOld(at: now) }
    }

    /// Returns the packets to request now, at most `limit`. Returns none if no request is due or every retransmission
    /// would arrive too late. `depth` is the maximum time that playout may wait for a packet.
    mutating func nextRequests(depth: Duration, limit: Int, at now: Instant) -> [SequenceNumber] {
        defer { missing.postpone(for: nil, at: now) }
        guard hasDueRequest(depth: depth, at: now) else { return [] }
        var limit = limit
        if !missing.isResponsive {
            // Requests one packet every two seconds from a source that answers no requests, to find out whether it
            // answers again.
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

    // MARK: - Playout delay for recovery

    /// Computes `repair`, the playout delay that the recovery of lost packets needs. It is at most `limit`, and equals
    /// `limit` if `expectsLoss` is true. `asks` is true if lost packets are requested; `concealment` is our decoder's
    /// concealment.
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
            // Raises the delay for recovery in steps of at least 20 ms, and lowers it only when the loss is over. The
            // loss of a few seconds varies at random, and each change of the playout delay time-scales the audio.
            let worthwhile = FrameCount(RecoveryDelay.worthwhileDepth(prediction))
            let isWorthAStep = worthwhile >= repair.retransmissionTime + Self.step || worthwhile == advice.limit
            advice.retransmissionTime =
                isWorthAStep ? max(worthwhile, repair.retransmissionTime) : repair.retransmissionTime
        }
        repair = advice
    }
}
