public import TenfourAudioCodec
internal import TenfourAudioCore
internal import TenfourPackets

/// Queues one talker's packets and decides which operation makes the next piece of audio. It performs nothing.
///
/// Time is the number of frames that the card has requested since it started; arrivals are given on the same count. The
/// timeline is steady: a lost packet is concealed in its place, and a packet that comes after its place was played is left out.
/// Where the queue is empty, playout waits and keeps what comes later. The playout delay changes in three ways only: a talkspurt
/// begins at the target delay of that moment, `delayError` asks for whole periods to be removed or inserted (time-scaling), and
/// `ratePartsPerMillion` asks the resampler for the rest.
///
/// Playback thread. Nothing is allocated after `init`.
@usableFromInline
struct PlayoutController: ~Copyable, Sendable {
    private(set) var statistics = PlayoutStatistics()

    private var queue: PacketQueue
    private var timeline = TimestampUnwrapper()
    private var delay: DelayControl
    private var missing = MissingPackets()
    private var underrun = Underrun()
    private var playing: Playing?
    /// The packet decoded last. Audio at or before it has been heard.
    private var last: DecodedPacket?
    /// The end of the audio that the card has skipped, in the talker's time: a packet from before it is not late.
    private var skippedTo: FrameCount?

    /// The position of playout in the talker's time.
    private struct Playing {
        /// The next frame to be played.
        var position: FrameCount
        var frameCount: FrameCount
        /// The distance of the talker's time behind the card's.
        var delay: FrameCount
    }

    /// Packets that are older than the target delay by 5 s are not played.
    private static var longestStall: FrameCount { FrameCount(240_000) }
    /// A talkspurt may begin 5 ms later than it should for the sake of a lost packet before it.
    private static var longestAdvance: FrameCount { FrameCount(240) }

    init(configuration: PlayoutConfiguration) {
        delay = DelayControl(configuration: configuration)
        queue = PacketQueue(capacity: configuration.packetCapacity)
    }

    /// Whether nothing plays or is queued.
    var isIdle: Bool { @_noAllocation @_noLocks get { playing == nil && queue.count == 0 } }

    /// How far playout lies behind the talker's timestamps, on the card's clock. Only differences have a meaning.
    var playoutDelay: FrameCount { @_noAllocation @_noLocks get { playing?.delay ?? .zero } }

    /// The playout delay less the target delay.
    var delayError: FrameCount { @_noAllocation @_noLocks get { delay.error } }

    /// Whether the target delay includes time in which lost packets are recovered.
    var includesRecovery: Bool { @_noAllocation @_noLocks get { delay.includesRecovery } }

    /// By how many parts per million the resampler should play faster (above zero) or slower than the card's clock.
    var ratePartsPerMillion: Float { @_noAllocation @_noLocks get { delay.ratePartsPerMillion } }

    /// Whether the next operation would decode a packet.
    var hasDuePacket: Bool {
        @_noAllocation @_noLocks get {
            guard let playing, let head = queue.head else { return false }
            return head.start <= playing.position
        }
    }

    /// Whether the packet is here that was missing when audio was concealed last. Once playout has fallen silent, all that was
    /// concealed has been heard, and what waits may be recovered audio.
    var hasEndedUnderrun: Bool {
        @_noAllocation @_noLocks get {
            underrun.concealed > .zero && underrun.bufferingSince == nil && hasDuePacket
        }
    }

    /// A packet that `nextOperation` has just named, for a decoder; readable until the next insertion.
    @_lifetime(borrow self) @_noAllocation @_noLocks @usableFromInline
    func packet(_ entry: PacketQueue.Entry) -> EncodedPacket { queue.packet(entry) }

    /// Sets the delay that copies and retransmissions need, until the next call or `reset`. Playout follows it as it
    /// follows the network: at once in a silence, by time-scaling within a talkspurt. A fixed delay stays.
    @_noAllocation @_noLocks
    mutating func setRecoveryDemand(_ demand: RecoveryDemand) { delay.setRecoveryDemand(demand) }

    /// The card requests audio from `position` on: packets inserted later were not there for it. Needed only where requests come in
    /// bursts.
    @_noAllocation @_noLocks
    mutating func recordRequest(from position: FrameCount) { delay.recordRequest(from: position) }

    // MARK: Insertion

    /// Inserts a packet that arrived at the position `arrival`.
    ///
    /// Only an `original` shows the network's delay and the talker's present numbers. A `copy` or `retransmitted`
    /// packet fills the place of a missing one.
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
            outcome = .outlier
        case .known(let sequence, let start):
            outcome = insertOriginal(payload, packet, sequence, start, arrivedAt: arrival)
        case .jumped(let sequence, let start):
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
        delay.insert(start: start, at: arrival)
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
        case .queued: return .queued
        case .duplicate: return .duplicate
        case .full: return .refused
        }
    }

    /// Inserts a copy or a retransmission in the place of a missing packet.
    private mutating func insertRecovered(
        _ payload: Span<UInt8>, _ packet: PacketInfo, at now: FrameCount
    ) -> Arrival {
        guard
            case .known(let sequence, let start) = timeline.placeOfRecovered(packet.sequenceNumber, packet.timestamp)
        else { return .outlier }
        if let last, sequence <= last.sequence {
            return missing.isMissing(sequence) ? .late(by: last.end - start) : .spare
        }
        // In a silence it must not begin a talkspurt that is over.
        let position = playing?.position ?? now - targetDelay(at: now)
        guard start + packet.frameCount > position else { return .late(by: position - start) }
        switch queue.insert(payload, packet, sequence: sequence, start: start) {
        case .queued: return .queued
        case .duplicate: return .spare
        case .full: return .refused
        }
    }

    // MARK: Decision

    /// Decides what to play at `now`: at most `wanted` frames where it is silence. Call it again when that is played.
    @_noAllocation @_noLocks
    mutating func nextOperation(at now: FrameCount, wanting wanted: FrameCount) -> PlayoutOperation {
        if playing == nil, let silence = beginTalkspurt(at: now, wanting: wanted) { return .silence(silence) }
        guard var playing else { return .silence(wanted) }
        endUnderrun(&playing, at: now)
        playing.delay = now - playing.position
        // While the queue is empty the delay is not known: what is concealed may stand for lost packets.
        if queue.count > 0 { updateDelay(playing, at: now) }
        let situation = DecisionLogic.Situation(
            position: playing.position, sequence: last?.sequence ?? .min, frameCount: playing.frameCount,
            underrun: underrun.concealed)
        return apply(DecisionLogic(situation, head: queue.head), playing, at: now, wanting: wanted)
    }

    /// Begins a talkspurt when its first packet is as old as the target delay; otherwise returns how much silence comes first. Behind
    /// a long burst of lost packets it begins one packet earlier, with the in-band FEC of the first packet that came.
    private mutating func beginTalkspurt(at now: FrameCount, wanting wanted: FrameCount) -> FrameCount? {
        let target = targetDelay(at: now)
        let longest = max(target, (delay.base ?? .zero) + Self.longestStall)
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
        // Sequence numbers count all lost packets, and this one is recovered.
        underrun.advanceBuffering(by: head.start - start)
        playing = Playing(position: start, frameCount: head.frameCount, delay: now - start)
        return nil
    }

    /// Whether the packet before `packet` was lost and is in it as in-band FEC.
    private func hasFECOfLostPacket(_ packet: PacketQueue.Entry) -> Bool {
        guard packet.carriesFEC, let last else { return false }
        return packet.sequence > last.sequence + 1 && packet.start - packet.frameCount >= last.end
    }

    private mutating func updateDelay(_ playing: Playing, at now: FrameCount) {
        let target = targetDelay(at: now)
        delay.update(playoutDelay: playing.delay, target: target, lookAhead: lookAhead(at: now), at: now)
        statistics.delay = playing.delay - (delay.base ?? playing.delay)
        statistics.target = target - (delay.base ?? target)
        statistics.driftPartsPerMillion = delay.driftPartsPerMillion
    }

    /// Ends an underrun when a packet has come. The concealed audio stands for lost packets, or for the beginning of
    /// this packet if the delay need not grow; then the timeline has not moved. Otherwise playout is later by the
    /// concealed audio.
    private mutating func endUnderrun(_ playing: inout Playing, at now: FrameCount) {
        guard underrun.concealed > .zero, let head = queue.head, let last else { return }
        let gap = head.start - playing.position
        let replaced: FrameCount
        if head.sequence > last.sequence + 1 {
            // After a silence the talkspurt has begun where it should.
            replaced = underrun.bufferingSince == nil ? min(underrun.concealed, max(gap, .zero)) : .zero
        } else if gap <= .zero {
            let target = targetDelay(at: now)
            // The newest packet tells whether the stall is over. While it goes on, the next packet needs all of the delay that
            // the underrun has brought.
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
        _ decision: DecisionLogic, _ before: Playing, at now: FrameCount, wanting wanted: FrameCount
    ) -> PlayoutOperation {
        var after = before
        let operation: PlayoutOperation
        switch decision {
        case .decode(let skipping):
            guard let head = queue.head else { preconditionFailure("a decision to decode names the head") }
            queue.removeHead()
            recordDecoding(head, skipping: skipping, at: now)
            after = Playing(position: head.end, frameCount: head.frameCount, delay: before.delay)
            operation = .decode(head, skipping: skipping)
        case .recover(let frames):
            guard let head = queue.head else { preconditionFailure("a decision to recover names the head") }
            statistics.recovered += frames
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
            return .silence(beginTalkspurt(at: now, wanting: wanted) ?? FrameCount(0))
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
    }

    /// The delay at which playout should lie, on the talker's timestamps.
    private func targetDelay(at now: FrameCount) -> FrameCount { delay.targetDelay(lookAhead: lookAhead(at: now)) }

    /// One packet while packets are lost, so that the next one, which may carry in-band FEC, is there in time; zero otherwise.
    private func lookAhead(at now: FrameCount) -> FrameCount {
        guard let last, missing.hasLoss(at: now) else { return .zero }
        return last.frameCount
    }

    // MARK: The card

    /// The card has lost `frames` of time: what was due in it is over.
    ///
    /// `missed` is how long the card was silent, where its queue has changed too. `goesOn`: nothing was played since the last loss,
    /// so both are one dropout.
    @_noAllocation @_noLocks
    mutating func skip(_ frames: FrameCount, missed: FrameCount? = nil, goesOn: Bool = false) {
        guard let position = playing?.position else { return }
        statistics.countSkipped(missed ?? frames, goesOn: goesOn)
        guard frames > .zero else { return }
        playing?.position = position + frames
        skippedTo = position + frames
        while let head = queue.head, head.end <= position + frames {
            last = DecodedPacket(head)
            queue.removeHead()
        }
    }

    /// The card's clock was set: the position of a later arrival is greater by `frames`.
    @_noAllocation @_noLocks
    mutating func shiftArrivals(by frames: FrameCount) { delay.shift(by: frames) }

    /// The card does not play `frames` of what was pulled. `goesOn` as in `skip`.
    @_noAllocation @_noLocks
    mutating func recordUnplayed(_ frames: FrameCount, goesOn: Bool = false) {
        guard playing != nil, frames > .zero else { return }
        statistics.countUnplayed(frames, goesOn: goesOn)
    }

    // MARK: What was performed

    /// Time-scaling has removed or inserted `frames`.
    @_noAllocation @_noLocks
    mutating func recordTimeScaling(of frames: FrameCount) { statistics.timeScaled += frames }

    /// `packet` was loud speech.
    @_noAllocation @_noLocks
    mutating func recordSpeech(_ packet: PacketQueue.Entry) {
        statistics.coded.add(
            byteCount: packet.byteCount, frameCount: packet.frameCount, encoding: packet.encoding)
    }

    /// `frames` that were concealed in an underrun are removed before they are heard.
    @_noAllocation @_noLocks
    mutating func discardConcealment(_ frames: FrameCount) { underrun.accountFor(frames) }

    /// The talker has left: no packet is waited for any more.
    @_noAllocation @_noLocks
    mutating func end() {
        if queue.count == 0 { playing = nil }
    }

    /// Forgets everything, for another talker.
    @_noAllocation @_noLocks
    mutating func reset() {
        restart()
        delay.reset()
        timeline = TimestampUnwrapper()
        statistics = PlayoutStatistics()
    }

    /// Begins a new timeline: the talker's numbers have jumped.
    @_noAllocation @_noLocks
    private mutating func restart() {
        queue.removeAll()
        delay.restart()
        playing = nil
        last = nil
        underrun = Underrun()
        skippedTo = nil
        missing.removeAll()
    }
}
