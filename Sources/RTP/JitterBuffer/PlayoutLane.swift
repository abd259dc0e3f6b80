public import TenfourAudioCore
internal import TenfourPackets

/// The way of one talker's packets to the decoder: `insert` them as they come, ask for the `next` operation whenever
/// sound is wanted.
///
/// Time is the count of frames the card has asked for since it started; an arrival is given on the same count. The
/// timeline is steady: what is lost is concealed in its place, and what comes after its place was played is left out.
/// Where nothing is there to play, playout waits and keeps what comes. It bends in three ways only: a talkspurt begins at
/// the depth that is then right, `excess` asks for sound to be shortened or lengthened by whole periods, and
/// `ratePartsPerMillion` asks the resampler for the rest.
///
/// Playback thread. Nothing is allocated after `init`.
public struct PlayoutLane: ~Copyable, Sendable {
    public internal(set) var statistics = PlayoutStatistics()

    private let configuration: PlayoutConfiguration
    var queue: PacketQueue
    var timeline = TimestampUnwrapper()
    var delays = DelayEstimate()
    var drift = DriftEstimate()
    var missing = MissingPackets()
    private var rate = RateControl()
    private var target: TargetDelay
    var playing: Playing?
    /// The packet last decoded: what lies at or before it has been heard.
    var lastSequence: Int64?
    var lastEnd = FrameCount.zero
    private var lastFrameCount = FrameCount.zero
    /// Sound made up since with nothing in the queue to say whether it was lost, late or never sent.
    private var waited = FrameCount.zero
    /// When the wait was given up, until the next packet is decoded. The card may not ask meanwhile.
    private var restingSince: FrameCount?
    /// Until then the depth does not shrink: packets came late, and the newest one was late too, so the route may be longer now.
    private var heldUntil = FrameCount(0)

    /// From where the card asked for sound last. A card that asks for much at once asks ahead of its clock.
    private var askedAt: FrameCount?
    /// Up to where in the talker's time the card has skipped sound: what comes later from before it is not late.
    var skippedTo: FrameCount?

    /// Where playout stands in the talker's time.
    struct Playing {
        /// What sounds next.
        var position: FrameCount
        var frameCount: FrameCount
        /// How far behind the talker's time the card's is.
        var depth: FrameCount
    }

    /// What is older is no longer worth hearing: 5 s.
    private static var longestStall: FrameCount { FrameCount(240_000) }
    /// How much deeper than it should be a talkspurt begins for the sake of a lost packet: 5 ms.
    private static var longestLead: FrameCount { FrameCount(240) }
    /// A longer route is known as one within 1.5 s.
    private static var holdTime: FrameCount { FrameCount(72_000) }
    /// The depth stays where it exceeds what it should be by less than this part of it: 1/8.
    private static var toleratedShare: Int { 8 }

    /// `capacity` in packets, a power of two; unless told as the deepest of `configuration` asks for.
    public init(configuration: PlayoutConfiguration = .init(), capacity: Int? = nil) {
        self.configuration = configuration
        target = TargetDelay(configuration)
        queue = PacketQueue(capacity: capacity ?? configuration.packetCapacity)
    }

    /// Whether nothing sounds or waits to.
    public var isIdle: Bool { @_noAllocation @_noLocks get { playing == nil && queue.count == 0 } }

    /// How far playout lies behind the talker's timestamps, on the card's clock: only differences mean anything.
    public var depth: FrameCount { playing?.depth ?? .zero }

    /// How much deeper the buffer is than it should be; below zero, how much shallower.
    public private(set) var excess = FrameCount(0)
    /// Part of the depth is for repair: what lacks of it costs every packet that is lost meanwhile.
    public private(set) var isRepairing = false

    /// Whether the next operation would decode a packet that is here.
    public var hasSound: Bool {
        @_noAllocation @_noLocks get {
            guard let playing, let head = queue.head else { return false }
            return head.start <= playing.position
        }
    }

    /// Whether what was made up last stood in for a packet that was late and is here now.
    public var hasEndedWait: Bool { @_noAllocation @_noLocks get { waited > .zero && hasSound } }

    /// By how much the resampler should play faster (above zero) or slower than the card's clock.
    public var ratePartsPerMillion: Float { @_noAllocation @_noLocks get { rate.partsPerMillion } }

    /// The bytes of a packet that `next` has just named; readable until the next insertion.
    @_lifetime(borrow self) @_noAllocation @_noLocks
    public func payload(of entry: PacketQueue.Entry) -> Span<UInt8> { queue.payload(of: entry) }

    /// What copies and resends need from now on, until it is said otherwise or the lane is `reset`. The depth goes there as
    /// it goes to any other: at once in a silence, by tempo within a talkspurt. A fixed depth stays.
    @_noAllocation @_noLocks
    public mutating func setRepair(_ needs: RecoveryDemand) { target.repair = needs }

    /// The card asks for sound from `position` on. Packets inserted later were not there for it. It need not be told where pulls come evenly.
    @_noAllocation @_noLocks
    public mutating func ask(from position: FrameCount) { askedAt = position }

    /// What to play at `now`, at most `wanted` frames of it when it is silence. Call it again when that is played.
    @_noAllocation @_noLocks
    public mutating func next(at now: FrameCount, wanting wanted: FrameCount) -> PlayoutOperation {
        if playing == nil, let silence = begin(at: now, wanting: wanted) { return .silence(silence) }
        guard var playing else { return .silence(wanted) }
        settleWait(&playing, at: now)
        playing.depth = now - playing.position
        if queue.count > 0 { measure(playing, at: now) }
        let situation = DecisionLogic.Situation(
            position: playing.position, sequence: lastSequence ?? .min, frameCount: playing.frameCount, waited: waited)
        return perform(DecisionLogic(situation, head: queue.head), playing, at: now, wanting: wanted)
    }

    /// The card has lost so much time: what would have sounded in it is over.
    ///
    /// `missed` says how long it was silent where that differs, because its queue is another. `goesOn` where nothing was played
    /// since it lost some before: it is one hole.
    @_noAllocation @_noLocks
    public mutating func skip(_ frames: FrameCount, missed: FrameCount? = nil, goesOn: Bool = false) {
        guard let position = playing?.position else { return }
        let missed = missed ?? frames
        if missed > .zero {
            statistics.skipped += missed
            if !goesOn { statistics.holes += 1 }
        }
        guard frames > .zero else { return }
        playing?.position = position + frames
        skippedTo = position + frames
        while let head = queue.head, head.end <= position + frames {
            lastSequence = head.sequence
            lastEnd = head.end
            queue.removeHead()
        }
    }

    /// The card's clock was set: what arrives at a moment arrives at a position that is by `frames` higher than it was.
    @_noAllocation @_noLocks
    public mutating func shiftArrivals(by frames: FrameCount) {
        delays.shift(by: frames)
        drift.shift(by: frames)
        askedAt = askedAt.map { $0 + frames }
    }

    /// The card does not play so much of what it is given. `goesOn` as in `skip`.
    @_noAllocation @_noLocks
    public mutating func lose(_ frames: FrameCount, goesOn: Bool = false) {
        guard playing != nil, frames > .zero else { return }
        statistics.unplayed += frames
        if !goesOn { statistics.holes += 1 }
    }

    /// Whoever performs has shortened or lengthened what was decoded by so much.
    @_noAllocation @_noLocks
    public mutating func bent(by frames: FrameCount) { statistics.stretched += frames }

    /// A packet was loud speech.
    @_noAllocation @_noLocks
    public mutating func spoke(_ packet: PacketQueue.Entry) {
        statistics.coded.add(byteCount: packet.byteCount, frameCount: packet.frameCount)
    }

    /// So much of what was made up while playout waited is left out before it is heard.
    @_noAllocation @_noLocks
    public mutating func withdraw(_ frames: FrameCount) { waited -= min(frames, waited) }

    /// The talker has said good-bye: nothing more will come, so what is missing is not worth waiting for.
    @_noAllocation @_noLocks
    public mutating func end() {
        if queue.count == 0 { playing = nil }
    }

    /// Empties the lane for another talker.
    @_noAllocation @_noLocks
    public mutating func reset() {
        restart()
        drift = DriftEstimate()
        rate = RateControl()
        timeline = TimestampUnwrapper()
        target = TargetDelay(configuration)
        statistics = PlayoutStatistics()
        askedAt = nil
    }

    /// The talker's numbers have jumped: nothing that was known of their time holds.
    @_noAllocation @_noLocks
    mutating func restart() {
        queue.removeAll()
        delays.removeAll()
        playing = nil
        lastSequence = nil
        lastEnd = .zero
        (waited, restingSince) = (.zero, nil)
        heldUntil = .zero
        skippedTo = nil
        missing.removeAll()
    }

    /// Begins a talkspurt when its first packet is as old as the depth asks; otherwise so much silence comes first. Behind a long
    /// burst of lost packets it begins one packet earlier, with what the first that came has of the last that was lost.
    private mutating func begin(at now: FrameCount, wanting wanted: FrameCount) -> FrameCount? {
        let target = targetDelay(at: now)
        let deepest = max(target, (delays.base ?? .zero) + Self.longestStall)
        while let head = queue.head, now - head.start > deepest {
            queue.removeHead()
            statistics.late += 1
        }
        guard let head = queue.head else { return wanted }
        var start = head.start
        if carriesLost(head), now - (head.start - head.frameCount) <= target + Self.longestLead {
            start -= head.frameCount
        }
        guard now >= start + target else { return min(wanted, start + target - now) }
        // The numbers tell of all that was lost, and this is not.
        restingSince = restingSince.map { $0 + (head.start - start) }
        playing = Playing(position: start, frameCount: head.frameCount, depth: now - start)
        return nil
    }

    /// Whether the packet before `packet` was lost and is in it as in-band FEC.
    private func carriesLost(_ packet: PacketQueue.Entry) -> Bool {
        guard packet.carriesFEC, let lastSequence else { return false }
        return packet.sequence > lastSequence + 1 && packet.start - packet.frameCount >= lastEnd
    }

    /// While there is nothing to play the depth is not known: the wait may stand for what is lost.
    private mutating func measure(_ playing: Playing, at now: FrameCount) {
        let target = targetDelay(at: now)
        isRepairing = self.target.isForRepair(lookAhead: lookAhead(at: now))
        excess = playing.depth - target
        // A little too deep is left so: it would be wanted again before long.
        if excess > .zero {
            excess = max(excess - FrameCount((target - (delays.base ?? target)).rawValue / Self.toleratedShare), .zero)
        }
        if now < heldUntil { excess = min(excess, .zero) }
        rate.update(excess: excess, driftPartsPerMillion: Float(drift.partsPerMillion))
        statistics.delay = playing.depth - (delays.base ?? playing.depth)
        statistics.target = target - (delays.base ?? target)
        statistics.driftPartsPerMillion = Float(drift.partsPerMillion)
    }

    /// A packet has ended the wait. What was made up meanwhile stands for packets that are lost, or for the beginning of this
    /// one where playout should lie no deeper, and the timeline has not moved. Otherwise playout is that much later.
    private mutating func settleWait(_ playing: inout Playing, at now: FrameCount) {
        guard waited > .zero, let head = queue.head, let lastSequence else { return }
        let gap = head.start - playing.position
        let stoodFor: FrameCount
        if head.sequence > lastSequence + 1 {
            // Behind a silence the talkspurt has begun where it should.
            stoodFor = restingSince == nil ? min(waited, max(gap, .zero)) : .zero
        } else if gap <= .zero {
            let target = targetDelay(at: now)
            let excess = max(now - playing.position - target, .zero)
            // The newest packet tells whether the stall is over. While it is not, every frame of depth that the wait has
            // brought is needed for the next packet.
            if delays.newestDelay <= target {
                stoodFor = min(waited, min(excess, FrameCount(head.frameCount.rawValue / 2)))
            } else {
                stoodFor = .zero
                heldUntil = now + Self.holdTime
            }
        } else {
            return
        }
        playing.position += stoodFor
        bookInHindsight(stoodFor)
        waited -= stoodFor
    }

    private mutating func perform(
        _ decision: DecisionLogic, _ before: Playing, at now: FrameCount, wanting wanted: FrameCount
    ) -> PlayoutOperation {
        var after = before
        let operation: PlayoutOperation
        switch decision {
        case .decode(let skipping):
            guard let head = queue.head else { preconditionFailure("a decision to decode names the head") }
            queue.removeHead()
            note(head, skipping: skipping, at: now)
            after = Playing(position: head.end, frameCount: head.frameCount, depth: before.depth)
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
        case .wait(let frames):
            waited += frames
            operation = .conceal(frames)
        case .rest:
            playing = nil
            restingSince = now
            return .silence(begin(at: now, wanting: wanted) ?? FrameCount(0))
        }
        playing = after
        return operation
    }

    /// Books a packet that is decoded now.
    private mutating func note(_ packet: PacketQueue.Entry, skipping: FrameCount, at now: FrameCount) {
        let followsAtOnce = lastSequence.map { packet.sequence == $0 + 1 } ?? true
        if !followsAtOnce, let lastSequence { missing.miss(lastSequence + 1...packet.sequence - 1, at: now) }
        bookSilence(before: packet, followsAtOnce: followsAtOnce, at: now)
        switch packet.origin {
        case .original:
            statistics.decoded += packet.frameCount - skipping
        case .copy:
            statistics.recoveredByCopy += packet.frameCount - skipping
            missing.miss(packet.sequence...packet.sequence, at: now)
        case .retransmitted:
            statistics.recoveredByResend += packet.frameCount - skipping
            missing.miss(packet.sequence...packet.sequence, at: now)
        }
        (lastSequence, lastEnd, lastFrameCount) = (packet.sequence, packet.end, packet.frameCount)
    }

    /// Books what was not heard since the packet before, if that was no pause of the talker's.
    private mutating func bookSilence(before packet: PacketQueue.Entry, followsAtOnce: Bool, at now: FrameCount) {
        let rested = restingSince.map { max(now - $0, .zero) } ?? .zero
        if followsAtOnce, packet.start <= lastEnd, lastSequence != nil {
            // Their time went on without a break: a stall, as long as what has come after it. Some stop their time in a pause.
            bookInHindsight(waited + min(rested, FrameCount((queue.count + 1) * packet.frameCount.rawValue)))
        } else if !followsAtOnce, let lastSequence {
            // Their numbers tell how much was sent and lost.
            let lost = FrameCount(Int(packet.sequence - lastSequence - 1) * packet.frameCount.rawValue)
            // Where their time went on for longer they paused, and what was made up then stands for nothing.
            let isPause = packet.start - lastEnd > lost
            bookInHindsight(max(isPause ? .zero : waited, min(waited + rested, lost)))
        }
        (waited, restingSince) = (.zero, nil)
    }

    private mutating func bookInHindsight(_ frames: FrameCount) {
        statistics.concealed += frames
        statistics.concealedInHindsight += frames
    }

    /// How far playout should lie behind the talker's timestamps.
    @_noAllocation @_noLocks
    func targetDelay(at now: FrameCount) -> FrameCount {
        guard let base = delays.base, let slow = delays.delay(exceptFor: configuration.lateShare) else { return .zero }
        return base + target.depth(spread: slow - base, lookAhead: lookAhead(at: now))
    }

    /// When a packet that arrived at `arrival` is there to be played. A card that asks in bursts is ahead of its clock after each:
    /// what arrives before the clock has come to the same place is as good as a packet that arrives then.
    @_noAllocation @_noLocks
    func availability(of arrival: FrameCount) -> FrameCount { max(arrival, askedAt ?? arrival) }

    /// One packet, while packets are lost: so that it is known to be lost, and the next one, which may carry what brings
    /// it back, is there in time.
    private func lookAhead(at now: FrameCount) -> FrameCount {
        guard lastSequence != nil, missing.hasLoss(at: now) else { return .zero }
        return lastFrameCount
    }
}
