internal import TenfourAudioCore
internal import TenfourMediaSource

/// A segment that is fetched or will be. For the reader's thread only.
final class HLSSlot {
    let segment: HLSSegment
    let place: HLSTimeline.Place
    /// The position of the segment's start, by the durations in the playlist.
    let start: Duration
    fileprivate(set) var source: (any ByteSource)?
    fileprivate var attempts = HLSAttempts()
    /// Why the last attempt failed.
    fileprivate var failure: ByteSourceError?
    /// Whether bytes were read. From then on the segment is not requested again.
    var hasDelivered = false
    /// The number of bytes that have arrived, and when the last of them came, without pauses.
    fileprivate var arrived = (count: 0, at: Instant.start)

    init(_ segment: HLSSegment, at place: HLSTimeline.Place, start: Duration) {
        self.segment = segment
        self.place = place
        self.start = start
    }
}

/// Fetches segments in order and ahead of the reader, one after the other. For the reader's thread only.
final class HLSChain {
    /// The segment to be read next.
    enum Head {
        case slot(HLSSlot)
        /// The segment has not been announced yet.
        case waiting
        case ended
    }

    private let session: HLSSession
    private var queue: [HLSSlot] = []
    /// The place of the segment after the last one in the queue.
    private var next: HLSTimeline.Place
    /// The number of segments in succession that could not be fetched.
    private var lostInARow = 0
    /// Whether all segments of the playlist have been in the queue, so that what is heard is near the live edge.
    private var isAtEdge = false
    /// Why a segment could last not be fetched.
    private(set) var lastFailure: ByteSourceError?

    private static let slotLimit = 16
    /// The number of segments in succession that may be lost before playback fails.
    private static let lossLimit = 10
    /// The limit while no segment has arrived.
    private static let firstLossLimit = 3
    /// The shortest time that a live segment may send nothing before it is requested again.
    private static let stallLimit = Duration.seconds(4)

    init(_ session: HLSSession, at place: HLSTimeline.Place) {
        self.session = session
        next = place
    }

    /// Ends all fetches.
    func close() {
        for slot in queue { close(slot) }
        queue = []
    }

    private func close(_ slot: HLSSlot) {
        if let source = slot.source { session.fetches.close(source) }
        slot.source = nil
    }

    /// Returns whether `slot` continues `last`, so that one demuxer can read both.
    func continues(_ slot: HLSSlot, _ last: HLSSlot) -> Bool {
        slot.place == HLSTimeline.Place(epoch: last.place.epoch, number: last.place.number + 1)
            && slot.segment.discontinuity == last.segment.discontinuity && slot.segment.header == last.segment.header
    }

    /// Returns the segment to be read. Leaves out segments that could not be fetched; throws if these are too many.
    func head() throws(ByteSourceError) -> Head {
        while let slot = queue.first, slot.attempts.isGivenUp {
            remove(slot)
            lostInARow += 1
            guard lostInARow < (session.hasWorked ? Self.lossLimit : Self.firstLossLimit) else {
                throw slot.failure ?? .failed("no segment of this HLS stream can be fetched; try again later")
            }
        }
        if let slot = queue.first { return .slot(slot) }
        return session.timeline.entry(at: next) == .ended ? .ended : .waiting
    }

    /// Removes a segment that was read, or cannot be.
    func remove(_ slot: HLSSlot) {
        if slot.hasDelivered { lostInARow = 0 }
        close(slot)
        queue.removeAll { $0 === slot }
    }

    /// Records that a segment could not be fetched, or its key could not. It is requested again a little later.
    func fail(_ slot: HLSSlot, _ error: ByteSourceError, at now: Instant) {
        close(slot)
        slot.failure = error
        lastFailure = error
        slot.attempts.failed(at: now, isFirst: !session.hasWorked)
        // Does not wait for a segment that has vanished from the playlist.
        if session.timeline.entry(at: slot.place) == .vanished { slot.attempts.giveUp() }
    }

    // MARK: Fetching

    /// Starts the fetches that are due.
    func poll(at now: Instant) {
        extend(at: now)
        for slot in queue where !slot.attempts.isGivenUp {
            if slot.source == nil, slot.attempts.isDue(at: now) { request(slot, at: now) }
            // The next segment does not wait for one that is requested again later.
            guard let source = slot.source else { continue }
            if !isComplete(slot, source, at: now) { return }
        }
    }

    private func extend(at now: Instant) {
        if session.isOutdated(at: now) { return }
        var duration = queue.reduce(Duration.zero) { $0 + $1.segment.duration }
        while queue.count < Self.slotLimit, queue.isEmpty || duration < session.fetches.services.bufferedDuration,
            bufferedByteCount < session.fetches.aheadLimit
        {
            switch session.timeline.entry(at: next) {
            case .segment(let index):
                let segment = session.timeline.segments[index]
                next.number += 1
                if segment.isMissing { continue }
                let start = session.timeline.start(ofSegmentAt: index)
                queue.append(
                    HLSSlot(segment, at: session.timeline.place(ofSegmentAt: index), start: start))
                duration += segment.duration
            case .vanished:
                guard !session.timeline.segments.isEmpty else { return }
                // Continues at the edge of a live stream; what was missed there is gone. A listener further back loses
                // as little as possible.
                let isRestarted = next.epoch != session.timeline.epoch
                next = isAtEdge || isRestarted ? session.timeline.startPlace : session.timeline.place(ofSegmentAt: 0)
            case .notYet:
                isAtEdge = true
                return
            case .ended: return
            }
        }
    }

    private func request(_ slot: HLSSlot, at now: Instant) {
        do throws(ByteSourceError) {
            let resource = try session.timeline.playlist.resource(slot.segment.reference)
            slot.source = try session.fetches.open(resource, slot.segment.byteRange)
            slot.attempts.requested()
            slot.arrived = (0, session.active(now))
        } catch {
            fail(slot, error, at: now)
        }
    }

    /// Returns whether the segment needs no more of the network, so that the next one may be fetched.
    private func isComplete(_ slot: HLSSlot, _ source: any ByteSource, at now: Instant) -> Bool {
        let state = source.state
        switch state.phase {
        case .failed(let error):
            if !slot.hasDelivered, state.available.isEmpty { fail(slot, error, at: now) }
            return true
        case .ended:
            if !slot.hasDelivered, state.available.isEmpty {
                fail(slot, .failed("a segment of this HLS stream is empty; ask its operator"), at: now)
            }
            return true
        case .full: return false
        case .connecting, .receiving, .reconnecting:
            if state.held.upperBound != slot.arrived.count {
                slot.arrived = (state.held.upperBound, session.active(now))
            }
            if !slot.hasDelivered, isStalled(slot, at: now) {
                fail(
                    slot, .failed("a segment of this HLS stream does not arrive; try again later", kind: .timedOut),
                    at: now)
            }
            return false
        }
    }

    /// Returns whether a live segment has sent nothing for so long that playback should go on without it.
    func isStalled(_ slot: HLSSlot, at now: Instant) -> Bool {
        let limit = max(session.timeline.playlist.targetDuration * 2, Self.stallLimit)
        return session.wasLive && session.active(now) - slot.arrived.at > limit
    }

    // MARK: What is here

    /// The number of bytes that were fetched and not read yet.
    var bufferedByteCount: Int { queue.reduce(0) { $0 + ($1.source?.state.available.count ?? 0) } }

    /// The position up to which all segments have arrived; nil if none has.
    var bufferedEnd: Duration? {
        queue.last { $0.source?.state.phase == .ended }.map { $0.start + $0.segment.duration }
    }

    /// Whether no more can be fetched at present.
    var isFilled: Bool {
        queue.allSatisfy { slot in
            switch slot.source?.state.phase {
            case .ended, .failed, .full: true
            case .connecting, .receiving, .reconnecting: false
            case nil: slot.attempts.isGivenUp
            }
        }
    }

    /// Whether all segments of an ended playlist have arrived.
    var isWhole: Bool {
        session.timeline.entry(at: next) == .ended && queue.allSatisfy { $0.source?.state.phase == .ended }
    }
}
