public import TenfourAudioCore
public import TenfourPackets

/// Asking senders for what is lost (RFC 4585 section 6.2.1), and what playout is told to leave room for.
///
/// What a burst of loss, or a sender that lies about its numbers, can cost at the most:
///
/// | of each source | packets missing at a time: 128 |
/// | each packet | asked for once each round trip, but at least 12 ms, until an answer would come too late |
/// | of all sources | 50 questions a second, 10 at once, with 6000 bytes a second, 3000 at once |
/// | each question | 64 packets |
/// | a sender that answers none of 24 | one question in two seconds |
extension RTPSession {
    static let questionsPerSecond = 50.0
    static let mostQuestions = 10.0
    static let questionBytesPerSecond = 6_000.0
    static let mostQuestionBytes = 3_000.0
    private static let mostNumbers = 64
    /// When no more may be asked.
    private static let pause = Duration.milliseconds(20)

    /// Takes the frames of a source that were due for playout since it was first heard, and how many of them the card
    /// did not play. Reports carry the share that is missing.
    public mutating func playout(of ssrc: SSRC, due: FrameCount, missing: FrameCount, at now: Instant) {
        guard let index = index(of: ssrc) else { return }
        sources[index].played.take(missing: missing, due: due, at: now)
    }

    /// Takes how far playout of a source lies behind its fastest packet; to be called each time that this may have
    /// changed. Lost packets are asked for as long as they can still come in time. Before the first call that is for
    /// the greatest depth of the configuration.
    public mutating func playoutDelay(of ssrc: SSRC, is delay: Duration) {
        guard let index = index(of: ssrc) else { return }
        sources[index].trace.playoutDelay = delay
    }

    /// Whether lost packets of a source are asked for.
    func asks(_ index: Int) -> Bool {
        mayAsk(index)
            && (configuration.lossProtection.sourcesSupportNACK || sources[index].capabilities?.supportsNACK ?? false)
    }

    private func mayAsk(_ index: Int) -> Bool {
        configuration.lossProtection.asksForLostPackets && !configuration.isGroup && configuration.controlPort != .none
            && sources[index].goodbye == nil
    }

    /// For so long after its first packet as loss is remembered, of one who may answer.
    private func expectsLoss(_ index: Int, at now: Instant) -> Bool {
        configuration.lossProtection.expectsLoss && now - sources[index].firstPacket < ArrivalTrace.memoryOfLoss
            && (asks(index) || sources[index].capabilities == nil && mayAsk(index))
    }

    /// Looks at each source's losses when that is due.
    mutating func askWhenDue(at now: Instant) {
        guard let deadline = questionDeadline, deadline <= now else { return }
        for index in sources.indices { look(index, at: now) }
        armQuestions()
    }

    /// Looks at the losses of a source, asks for what is due, and finds out when to look again.
    mutating func ask(_ index: Int, at now: Instant) {
        look(index, at: now)
        armQuestions()
    }

    /// Afresh each time: a packet that came puts off what its absence would have asked for.
    private mutating func armQuestions() { questionDeadline = nextRequest }

    private var nextRequest: Instant? {
        var next: Instant?
        for index in sources.indices {
            let deadline = sources[index].trace.nextDeadline(asks: asks(index))
            if let deadline { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    private mutating func look(_ index: Int, at now: Instant) {
        let asks = asks(index)
        let limit = configuration.lossProtection.depth(roundTrip: sources[index].roundTrip)
        let playing = sources[index].trace.playoutDelay ?? limit
        // The first question finds out how long an answer takes, even where it comes too late.
        let depth = sources[index].roundTrip == nil ? max(playing, limit) : playing
        sources[index].trace.review(depth: max(depth, limit), asks: asks, at: now)
        if asks { ask(index, depth: depth, at: now) }
        sources[index].recordRetransmissions()
        let expectsLoss = expectsLoss(index, at: now)
        sources[index].trace.adviseDepth(
            limit: limit, asks: asks, expectsLoss: expectsLoss, concealment: configuration.lossProtection.concealment,
            at: now)
        expediteReportsOnLoss(at: now)
    }

    private mutating func ask(_ index: Int, depth: Duration, at now: Instant) {
        guard sources[index].trace.hasDueRequest(depth: depth, at: now) else {
            return sources[index].trace.postponeRequests(for: .seconds(2), at: now)
        }
        guard questions.spend(1, at: now) else {
            return sources[index].trace.postponeRequests(for: Self.pause, at: now)
        }
        let numbers = sources[index].trace.questions(depth: depth, limit: Self.mostNumbers, at: now)
        guard !numbers.isEmpty else { return }
        let nack = GenericNACK(sender: ssrc, media: sources[index].ssrc, sequenceNumbers: numbers)
        let datagram = question(nack)
        guard questionBytes.spend(Double(datagram.count), at: now) else { return }
        guard configuration.remotes.contains(sources[index].endpoint) || sources[index].spend(datagram.count),
            let endpoint = controlEndpoint(of: sources[index].endpoint)
        else { return }
        sendStream.hasSpoken = true
        sources[index].recovery.nackCount += 1
        outbox.putControl(datagram, to: endpoint)
    }

    /// Behind the shortest report that others take: no block, no name but the one that all must have.
    private func question(_ nack: GenericNACK) -> [UInt8] {
        let report = ReceiverReport(ssrc: ssrc)
        let description = SourceDescription(ssrc: ssrc, canonicalName: identity.canonicalName)
        return [UInt8](capacity: report.byteCount + description.byteCount + nack.byteCount) { datagram in
            report.write(into: &datagram)
            description.write(into: &datagram)
            nack.write(into: &datagram)
        }
    }
}
