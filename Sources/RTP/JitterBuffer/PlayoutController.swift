public import TenfourAudioCore
internal import TenfourPackets

/// Queues one talker's packets and decides which operation makes the next piece of audio. It processes no audio itself.
///
/// Time is the number of frames that the card has requested since it started; an arrival is given as such a number,
/// too. A lost packet does not move the timeline: it is concealed at its own position, and dropped if it arrives after
/// that. When the queue is empty, playout waits and plays the next packet in full.
///
/// The playout delay changes in three ways only. A talkspurt begins at the target delay of that moment. `delayError`
/// requests the removal or insertion of whole pitch periods (time-scaling). `ratePartsPerMillion` requests the rest
/// from the resampler.
///
/// Use it on the playback thread only. Nothing is allocated after `init`.
@usableFromInline
struct PlayoutController: ~Copyable, Sendable {
    var statistics = PlayoutStatistics()

    var queue: PacketQueue
    private var timeline = TimestampUnwrapper()
    var delay: DelayControl
    var lead: TalkerLead
    private var missing = MissingPackets()
    private var underrun = Underrun()
    var playing: PlayoutPosition?
    /// The packet that was decoded or skipped last. No audio before its end is decoded any more.
    var last: DecodedPacket?
    /// The end of the audio that was skipped because the card stood still or had not begun, in the talker's time; nil if
    /// none was skipped. A packet that begins before this position does not count as late.
    var skippedTo: FrameCount?
    /// The position of the newest packet that starts a talkspurt, in the talker's time.
    private var talkspurtStart: FrameCount?
    var join = JoinedTalk()
    var pause = NoisyPause()

    /// The maximum age of the first packet of a new talkspurt: 5 s after the fastest packet, or the target delay if it is
    /// longer. Older packets are dropped.
    private static var longestPreRoll: FrameCount { FrameCount(240_000) }
    /// The maximum time by which a talkspurt may begin late in order to begin with a lost packet, recovered from the
    /// FEC of the first packet received: 5 ms.
    private static var longestAdvance: FrameCount { FrameCount(240) }

    init(configuration: PlayoutConfiguration) {
        delay = DelayControl(configuration: configuration)
        lead = TalkerLead(configuration)
        queue = PacketQueue(capacity: configuration.packetCapacity)
    }

    /// Whether nothing is playing or queued.
    var isIdle: Bool { @_noAllocation @_noLocks get { playing == nil && queue.count == 0 } }

    /// The playout delay: the card's position at which a frame is played, less the frame's position in the talker's
    /// time. Only differences of delays have a meaning.
    var playoutDelay: FrameCount { @_noAllocation @_noLocks get { playing?.delay ?? .zero } }

    /// The playout delay less the target delay.
    var delayError: FrameCount { @_noAllocation @_noLocks get { delay.error } }

    /// Whether the talkspurt began much later than its target delay, and playout has not caught up yet.
    var hasBegunLate: Bool { @_noAllocation @_noLocks get { playing?.hasBegunLate ?? false } }

    /// Whether the target delay includes time for the recovery of lost packets.
    var includesRecovery: Bool { @_noAllocation @_noLocks get { delay.includesRecovery } }

    /// The correction of the playout speed, in parts per million of the card's clock; positive plays faster.
    var ratePartsPerMillion: Float { @_noAllocation @_noLocks get { delay.ratePartsPerMillion } }

    /// Whether the next operation would decode a packet.
    var hasDuePacket: Bool {
        @_noAllocation @_noLocks get {
            guard let playing, let head = queue.head else { return false }
            return head.start <= playing.position
        }
    }

    /// Whether the packet that ends an underrun has arrived, and concealed audio may still wait. False once playout has
    /// fallen silent: all concealed audio has been heard by then, and the waiting audio may be recovered audio.
    var hasEndedUnderrun: Bool {
        @_noAllocation @_noLocks get {
            underrun.concealed > .zero && underrun.bufferingSince == nil && hasDuePacket
        }
    }

    /// The bytes of the packet that `nextOperation` has just returned, for a decoder; readable until the next
    /// insertion.
    @_lifetime(borrow self) @_noAllocation @_noLocks @usableFromInline
    func packet(_ entry: PacketQueue.Entry) -> EncodedPacket { queue.packet(entry) }

    /// Sets the delay that copies and retransmissions need, until the next call or `reset`. Playout moves to the new
    /// target at once in silence, and by time-scaling within a talkspurt. A fixed playout delay does not change.
    @_noAllocation @_noLocks
    mutating func setRecoveryDemand(_ demand: RecoveryDemand) { delay.setRecoveryDemand(demand) }

    /// Records that the card requests audio from `position` on: packets inserted later arrive too late for this
    /// request. Needed only if requests come in bursts.
    @_noAllocation @_noLocks
    mutating func recordRequest(from position: FrameCount) { delay.recordRequest(from: position) }

    // MARK: Insertion

    /// Inserts a packet that arrived at the position `arrival`.
    ///
    /// Only an `original` shows the network's delay and the talker's present sequence number and timestamp. A `copy` or
    /// `retransmitted` packet replaces a missing one.
    @_noAllocation @_noLocks
    mutating func insert(_ payload: Span<UInt8>, _ packet: PacketInfo, arrivedAt arrival: FrameCount) -> Arrival {
        guard packet.origin.isOriginal else {
            let outcome = insertRecovered(payload, packet, at: arrival)
            statistics.countRecovered(outcome)
            return outcome
        }
        let place = timeline.place(
            packet.sequenceNumber, packet.timestamp, arrivedAt: arrival, fastest: delay.base,
            isIdle: isIdle)
        let outcome: Arrival
        switch place {
        case .outlier:
            statistics.dropped += packet.frameCount
            outcome = .outlier
        case .known(let sequence, let start):
            outcome = insertOriginal(payload, packet, sequence, start, arrivedAt: arrival)
        case .jumped(let sequence, let start):
            dropQueue()
            restart()
            statistics.resyncs += 1
            _ = insertOriginal(payload, packet, sequence, start, arrivedAt: arrival)
            outcome = .resynchronised
        }
        statistics.count(outcome)
        return outcome
    }

    private mutating func insertOriginal(
        _ payload: Span<UInt8>, _ packet: PacketInfo, _ sequence: Int64, _ start: FrameCount,
        arrivedAt arrival: FrameCount
    ) -> Arrival {
        let gain = insertDelay(of: packet, start: start, at: arrival)
        if packet.startsTalkspurt { talkspurtStart = start }
        join.insert(packet, start: start, arrivedAt: arrival)
        if let last, sequence <= last.sequence {
            let isDuplicate = sequence == last.sequence && !missing.isMissing(sequence)
            missing.recordArrival(sequence, at: arrival)
            if isDuplicate { return .duplicate }
            if let skippedTo, start < skippedTo { return .skipped }
            return .late(by: last.end - start)
        }
        if let playing, start + packet.frameCount <= playing.position {
            missing.recordArrival(sequence, at: arrival)
            if let skippedTo, start < skippedTo { return .skipped }
            return .late(by: playing.position - start)
        }
        switch queue.insert(payload, packet, sequence: sequence, start: start) {
        case .queued:
            limitLead(gain, start: start, at: arrival)
            return .queued
        case .duplicate: return .duplicate
        case .full:
            statistics.dropped += packet.frameCount
            return .refused
        }
    }

    /// Inserts a copy or a retransmission in place of a missing packet.
    private mutating func insertRecovered(
        _ payload: Span<UInt8>, _ packet: PacketInfo, at now: FrameCount
    ) -> Arrival {
        guard
            case .known(let sequence, let start) = timeline.placeOfRecovered(packet.sequenceNumber, packet.timestamp)
        else { return .outlier }
        if let last, sequence <= last.sequence {
            return missing.isMissing(sequence) ? .late(by: last.end - start) : .spare
        }
        // Computes the position of playout. In silence it is the position at which a talkspurt would begin now, because
        // a recovered packet must not begin a talkspurt that is over.
        let position = playing?.position ?? now - targetDelay(at: now)
        guard start + packet.frameCount > position else { return .late(by: position - start) }
        switch queue.insert(payload, packet, sequence: sequence, start: start) {
        case .queued: return .queued
        case .duplicate: return .spare
        case .full: return .refused
        }
    }

    // MARK: Decision

    /// Decides what to play at `now`: at most `wanted` frames if it is silence. Call it again when that audio ends.
    @_noAllocation @_noLocks
    mutating func nextOperation(at now: FrameCount, wanting wanted: FrameCount) -> PlayoutOperation {
        if playing == nil, let silence = beginTalkspurt(at: now, wanting: wanted) {
            return .pause(of: silence, after: last, before: queue.head)
        }
        guard var playing else { return .silence(wanted) }
        endUnderrun(&playing, at: now)
        playing.delay = now - playing.position
        // Updates the delay unless the queue is empty. While it is empty, the delay is unknown, because the concealed
        // audio may stand for lost packets.
        if queue.count > 0 {
            updateDelay(playing, at: now)
            if delay.error < TimeScaler.shortest { playing.hasBegunLate = false }
        }
        let situation = DecisionLogic.Situation(
            position: playing.position, sequence: last?.sequence ?? .min, frameCount: playing.frameCount,
            underrun: underrun.concealed, longestUnderrun: pause.longestUnderrun(after: last))
        return apply(DecisionLogic(situation, head: queue.head), playing, at: now, wanting: wanted)
    }

    /// Begins a talkspurt if its first packet is as old as the target delay. If the packet is younger, returns the
    /// duration of silence before it. After a long burst of lost packets the talkspurt begins one packet earlier, with
    /// the in-band FEC of the first packet received.
    private mutating func beginTalkspurt(at now: FrameCount, wanting wanted: FrameCount) -> FrameCount? {
        if join.awaitsNetwork(at: now) { return wanted }
        let target = joinDelay(at: now) ?? targetDelay(at: now)
        // No stall has made the first packets of a new talkspurt old: the talker may have captured them before it sent.
        var longest = delay.longestStall
        if let talkspurtStart, talkspurtStart >= last?.end ?? talkspurtStart { longest = Self.longestPreRoll }
        longest = max(target, (delay.base ?? .zero) + longest)
        while let head = queue.head, now - head.start > longest {
            queue.removeHead()
            statistics.late += 1
        }
        guard let head = queue.head else { return wanted }
        var start = head.start
        if hasFECOfLostPacket(head), now - (head.start - head.frameCount) <= target + Self.longestAdvance {
            start -= head.frameCount
        }
        guard now >= start + target else { return min(wanted, start + target - now) }
        // Excludes the recovered audio from the silence: the sequence numbers alone would count its packet as missing.
        underrun.advanceBuffering(by: head.start - start)
        let isStart = head.start == talkspurtStart || join.hasWaitingPackets
        join.begin()
        playing = PlayoutPosition(
            position: start, frameCount: head.frameCount, delay: now - start,
            hasBegunLate: isStart && now - start > target + TimeScaleDecision.highestError)
        return nil
    }

    /// Whether the packet before `packet` was lost and `packet` carries its in-band FEC.
    private func hasFECOfLostPacket(_ packet: PacketQueue.Entry) -> Bool {
        guard packet.carriesFEC, let last else { return false }
        return packet.sequence > last.sequence + 1 && packet.start - packet.frameCount >= last.end
    }

    private mutating func updateDelay(_ playing: PlayoutPosition, at now: FrameCount) {
        let target = targetDelay(at: now)
        delay.update(playoutDelay: playing.delay, target: target, lookAhead: lookAhead(at: now), at: now)
        statistics.delay = playing.delay - (delay.base ?? playing.delay)
        statistics.target = target - (delay.base ?? target)
        statistics.driftPartsPerMillion = delay.driftPartsPerMillion
    }

    /// Ends an underrun when a packet has arrived. If the delay need not grow, the timeline is unchanged: the concealed
    /// audio replaces lost packets, or the beginning of this packet. If the delay must grow, playout becomes later by
    /// the duration of the concealed audio.
    private mutating func endUnderrun(_ playing: inout PlayoutPosition, at now: FrameCount) {
        guard underrun.concealed > .zero, let head = queue.head, let last else { return }
        let gap = head.start - playing.position
        let replaced: FrameCount
        if head.sequence > last.sequence + 1 {
            // Replaces nothing after silence, because the talkspurt has begun at the right position already.
            replaced = underrun.bufferingSince == nil ? min(underrun.concealed, max(gap, .zero)) : .zero
        } else if gap <= .zero {
            let target = targetDelay(at: now)
            // Checks by the newest packet's delay whether the stall is over. If it is not, the next packet needs all of
            // the delay that the underrun has added.
            if delay.newest <= target {
                let error = max(now - playing.position - target, .zero)
                replaced = min(underrun.concealed, min(error, FrameCount(head.frameCount.rawValue / 2)))
            } else {
                replaced = .zero
                delay.hold(at: now)
            }
        } else {
            return
        }
        playing.position += replaced
        statistics.countConcealedInHindsight(replaced)
        underrun.accountFor(replaced)
    }

    private mutating func apply(
        _ decision: DecisionLogic, _ before: PlayoutPosition, at now: FrameCount, wanting wanted: FrameCount
    ) -> PlayoutOperation {
        var after = before
        let operation: PlayoutOperation
        switch decision {
        case .decode(let skipping):
            guard let head = queue.head else { preconditionFailure("a decision to decode names the head") }
            queue.removeHead()
            recordDecoding(head, skipping: skipping, at: now)
            (after.position, after.frameCount) = (head.end, head.frameCount)
            operation = .decode(head, skipping: skipping)
        case .recover(let frames):
            guard let head = queue.head else { preconditionFailure("a decision to recover names the head") }
            statistics.recovered += frames
            statistics.recoveredPacketCount += 1
            after.position += frames
            operation = .recover(frames, from: head)
        case .conceal(let frames):
            statistics.concealed += frames
            after.position += frames
            operation = .conceal(frames)
        case .underrun(let frames):
            underrun.conceal(frames)
            operation = .conceal(frames)
        case .buffer:
            playing = nil
            underrun.beginBuffering(at: now)
            let silence = beginTalkspurt(at: now, wanting: wanted) ?? FrameCount(0)
            return .pause(of: silence, after: last, before: queue.head)
        }
        playing = after
        return operation
    }

    private mutating func recordDecoding(_ packet: PacketQueue.Entry, skipping: FrameCount, at now: FrameCount) {
        if let last, packet.sequence > last.sequence + 1 {
            missing.recordMissing(last.sequence + 1...packet.sequence - 1, at: now)
        }
        statistics.countConcealedInHindsight(
            underrun.missing(before: packet, after: last, queuedCount: queue.count, at: now))
        underrun = Underrun()
        statistics.countDecoded(packet, frames: packet.frameCount - skipping)
        if !packet.origin.isOriginal { missing.recordMissing(packet.sequence...packet.sequence, at: now) }
        last = DecodedPacket(packet)
        pause.end(with: packet)
    }

    /// The target delay: the time on the card's clock at which audio is to be played, less its position in the talker's
    /// time.
    @_noAllocation @_noLocks
    func targetDelay(at now: FrameCount) -> FrameCount { delay.targetDelay(lookAhead: lookAhead(at: now)) }

    /// The time that in-band FEC needs. If packets were lost recently, it is the duration of one packet, so that the
    /// next packet with its in-band FEC arrives in time. Zero if none were lost.
    private func lookAhead(at now: FrameCount) -> FrameCount {
        guard let last, missing.hasLoss(at: now) else { return .zero }
        return last.frameCount
    }

    // MARK: What was performed

    /// Records that time-scaling has removed or inserted `frames`.
    @_noAllocation @_noLocks
    mutating func recordTimeScaling(of frames: FrameCount) { statistics.timeScaled += frames }

    /// Records that `packet` contained loud speech.
    @_noAllocation @_noLocks
    mutating func recordSpeech(_ packet: PacketQueue.Entry) {
        statistics.coded.add(
            byteCount: packet.byteCount, frameCount: packet.frameCount, encoding: packet.encoding)
    }

    /// Records that `frames` of audio concealed in an underrun are removed before they are heard.
    @_noAllocation @_noLocks
    mutating func discardConcealment(_ frames: FrameCount) { underrun.accountFor(frames) }

    /// Records that `frames` of the discarded concealment are heard nevertheless.
    @_noAllocation @_noLocks
    mutating func keepConcealment(_ frames: FrameCount) { statistics.concealed += frames }

    /// Records that the talker has left: playout waits for no further packet.
    @_noAllocation @_noLocks
    mutating func end() {
        if queue.count == 0 { playing = nil }
        pause.end()
    }

    /// Forgets everything, for another talker.
    @_noAllocation @_noLocks
    mutating func reset() {
        restart()
        delay.reset()
        timeline = TimestampUnwrapper()
        statistics = PlayoutStatistics()
        talkspurtStart = nil
        join = JoinedTalk()
    }

    /// Begins a new timeline, because the talker's sequence numbers or timestamps have jumped.
    @_noAllocation @_noLocks
    private mutating func restart() {
        queue.removeAll()
        delay.restart()
        playing = nil
        last = nil
        underrun = Underrun()
        lead.reset()
        skippedTo = nil
        pause.end()
        missing.removeAll()
    }
}
