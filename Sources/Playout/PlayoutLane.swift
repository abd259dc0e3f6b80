public import RTP
public import Sound

/// The way of one talker's packets to the decoder: `insert` them as they come, ask for the `next` operation whenever
/// sound is wanted.
///
/// Time is the count of frames the card has asked for since it started; an arrival is given on the same count. The
/// timeline is steady: what is lost is concealed in its place, what was concealed and comes late is left out. It bends
/// in three ways only: a talkspurt begins at the depth that the delays then ask for, a wait with nothing to play is made
/// longer when the depth should grow, and `ratePartsPerMillion` asks the resampler for the rest.
///
/// Playback thread. Nothing is allocated after `init`.
public struct PlayoutLane: ~Copyable, Sendable {
    public private(set) var statistics = PlayoutStatistics()

    private let configuration: PlayoutConfiguration
    private var queue: PacketQueue
    private var delays = DelayEstimate()
    private var drift = DriftEstimate()
    private var rate = RateControl()
    private var timeline = TalkerTimeline()
    private var playing: Playing?
    /// The packet last decoded: what lies at or before it has been heard.
    private var lastSequence: Int64?
    private var lastEnd = FrameCount.zero
    /// Sound made up since with nothing in the queue to say whether it was lost, late or never sent.
    private var waited = FrameCount.zero
    /// When a packet last carried FEC and when one was last missed: both recent make look-ahead worth its delay.
    private var lastFEC: FrameCount?
    private var lastLoss: FrameCount?

    /// Where playout stands in the talker's time.
    private struct Playing {
        /// What sounds next.
        var position: FrameCount
        var frameCount: FrameCount
        /// How far behind the talker's time the card's is.
        var depth: FrameCount
        /// From here to `position` nothing but concealment was heard.
        var concealedFrom: FrameCount?
    }

    /// How long a loss is remembered as a reason for look-ahead: 10 s.
    private static var memory: FrameCount { FrameCount(480_000) }

    public init(configuration: PlayoutConfiguration = .init(), capacity: Int = 256) {
        self.configuration = configuration
        queue = PacketQueue(capacity: capacity)
    }

    /// Whether nothing sounds or waits to.
    public var isIdle: Bool { @_noAllocation @_noLocks get { playing == nil && queue.count == 0 } }

    /// By how much the resampler should play faster (above zero) or slower than the card's clock.
    public var ratePartsPerMillion: Float { @_noAllocation @_noLocks get { rate.partsPerMillion } }

    /// The bytes of a packet that `next` has just named; readable until the next insertion.
    @_lifetime(borrow self) @_noAllocation @_noLocks
    public func payload(of entry: PacketQueue.Entry) -> Span<UInt8> { queue.payload(of: entry) }

    /// Takes in a packet that arrived at `arrival`.
    @_noAllocation @_noLocks
    public mutating func insert(
        _ payload: Span<UInt8>, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, frameCount: FrameCount,
        carriesFEC: Bool, arrivedAt arrival: FrameCount
    ) -> Arrival {
        let place = timeline.place(
            sequenceNumber, timestamp, arrivedAt: arrival, fastest: delays.base, isIdle: isIdle)
        let outcome: Arrival
        switch place {
        case .strange:
            outcome = .strange
        case .known(let sequence, let start):
            outcome = take(payload, sequence, start, frameCount, carriesFEC, arrivedAt: arrival)
        case .jumped(let sequence, let start):
            restart()
            statistics.resyncs += 1
            _ = take(payload, sequence, start, frameCount, carriesFEC, arrivedAt: arrival)
            outcome = .resynchronised
        }
        count(outcome)
        return outcome
    }

    /// What to play at `now`, at most `wanted` frames of it when it is silence. Call it again when that is played.
    @_noAllocation @_noLocks
    public mutating func next(at now: FrameCount, wanting wanted: FrameCount) -> PlayoutOperation {
        if playing == nil, let silence = begin(at: now, wanting: wanted) { return .silence(silence) }
        guard var playing else { return .silence(wanted) }
        playing.depth = now - playing.position
        let excess = playing.depth - targetDelay(at: now)
        rate.update(excess: excess, driftPartsPerMillion: Float(drift.partsPerMillion))
        statistics.delay = playing.depth - (delays.base ?? playing.depth)
        statistics.target = statistics.delay - excess
        statistics.driftPartsPerMillion = Float(drift.partsPerMillion)
        let situation = PlayoutDecision.Situation(
            position: playing.position, sequence: lastSequence ?? .min, frameCount: playing.frameCount,
            waited: waited, shallowness: .zero - excess)
        return perform(PlayoutDecision(situation, head: queue.head), playing, at: now, wanting: wanted)
    }

    /// The card has lost so much time: what would have sounded in it is over.
    @_noAllocation @_noLocks
    public mutating func skip(_ frames: FrameCount) {
        guard let position = playing?.position else { return }
        playing?.position = position + frames
        while let head = queue.head, head.end <= position + frames {
            lastSequence = head.sequence
            lastEnd = head.end
            queue.removeHead()
            statistics.late += 1
        }
    }

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
        timeline = TalkerTimeline()
        statistics = PlayoutStatistics()
    }

    // MARK: - Arriving

    private mutating func take(
        _ payload: Span<UInt8>, _ sequence: Int64, _ start: FrameCount, _ frameCount: FrameCount, _ carriesFEC: Bool,
        arrivedAt arrival: FrameCount
    ) -> Arrival {
        delays.insert(arrival - start, at: arrival)
        drift.insert(arrival - start, at: arrival)
        if carriesFEC { lastFEC = arrival }
        if let lastSequence, sequence <= lastSequence {
            return sequence == lastSequence ? .duplicate : .late(by: lastEnd - start)
        }
        if let playing, start + frameCount <= playing.position, !waits(for: start, at: arrival) {
            return .late(by: playing.position - start)
        }
        switch queue.insert(payload, sequence: sequence, start: start, frameCount: frameCount, carriesFEC: carriesFEC) {
        case .queued: return .queued
        case .duplicate: return .duplicate
        case .full: return .refused
        }
    }

    /// A packet whose place has been concealed may still be played when the buffer should be deeper anyway: playout
    /// goes back to it, and what was heard in its place becomes a wait.
    private mutating func waits(for start: FrameCount, at arrival: FrameCount) -> Bool {
        guard let now = playing, let concealedFrom = now.concealedFrom, start >= concealedFrom,
            now.depth + (now.position - start) <= targetDelay(at: arrival)
        else { return false }
        playing?.position = start
        return true
    }

    private mutating func count(_ arrival: Arrival) {
        switch arrival {
        case .queued, .resynchronised: break
        case .late: statistics.late += 1
        case .duplicate: statistics.duplicates += 1
        case .strange, .refused: statistics.discarded += 1
        }
    }

    // MARK: - Playing

    /// Begins a talkspurt when its first packet is as old as the depth asks; otherwise so much silence comes first.
    private mutating func begin(at now: FrameCount, wanting wanted: FrameCount) -> FrameCount? {
        let target = targetDelay(at: now)
        let deepest = max(target, (delays.base ?? .zero) + configuration.maximum)
        while let head = queue.head, now - head.start > deepest {
            queue.removeHead()
            statistics.late += 1
        }
        guard let head = queue.head else { return wanted }
        let due = head.start + target
        guard now >= due else { return min(wanted, due - now) }
        playing = Playing(position: head.start, frameCount: head.frameCount, depth: now - head.start)
        return nil
    }

    private mutating func perform(
        _ decision: PlayoutDecision, _ before: Playing, at now: FrameCount, wanting wanted: FrameCount
    ) -> PlayoutOperation {
        var after = before
        let operation: PlayoutOperation
        switch decision {
        case .decode(let skipping):
            guard let head = queue.head else { preconditionFailure("a decision to decode names the head") }
            queue.removeHead()
            let followsAtOnce = lastSequence.map { head.sequence == $0 + 1 } ?? true
            if !followsAtOnce { lastLoss = now }
            if !followsAtOnce || head.start <= lastEnd { statistics.concealed += waited }
            waited = .zero
            statistics.decoded += head.frameCount - skipping
            (lastSequence, lastEnd) = (head.sequence, head.end)
            after = Playing(position: head.end, frameCount: head.frameCount, depth: before.depth)
            operation = .decode(head, skipping: skipping)
        case .recover(let frames):
            guard let head = queue.head else { preconditionFailure("a decision to recover names the head") }
            statistics.recovered += frames
            after.position += frames
            after.concealedFrom = nil
            operation = .recover(frames, from: head)
        case .conceal(let frames, let advancing):
            if queue.count == 0 {
                waited += frames
            } else {
                statistics.concealed += frames
            }
            after.concealedFrom = after.concealedFrom ?? after.position
            after.position += advancing
            operation = .conceal(frames)
        case .rest:
            playing = nil
            return .silence(begin(at: now, wanting: wanted) ?? FrameCount(0))
        }
        playing = after
        return operation
    }

    /// How far playout should lie behind the talker's timestamps.
    private func targetDelay(at now: FrameCount) -> FrameCount {
        guard let base = delays.base, let slow = delays.delay(exceptFor: configuration.lateShare) else { return .zero }
        switch configuration.depth {
        case .fixed(let depth):
            return base + max(depth, configuration.margin)
        case .adaptive:
            let wanted = slow - base + configuration.margin + lookAhead(at: now)
            return base + min(max(wanted, configuration.minimum), configuration.maximum)
        }
    }

    /// One packet, while packets are lost that the FEC in the next one could bring back.
    private func lookAhead(at now: FrameCount) -> FrameCount {
        guard let lastFEC, let lastLoss, let playing else { return .zero }
        return now - max(lastFEC, lastLoss) < Self.memory && now - min(lastFEC, lastLoss) < Self.memory
            ? playing.frameCount : .zero
    }

    private mutating func restart() {
        queue.removeAll()
        delays.removeAll()
        playing = nil
        lastSequence = nil
        lastEnd = .zero
        waited = .zero
        lastFEC = nil
        lastLoss = nil
    }
}
