internal import TenfourAudioCore
internal import TenfourOggOpus
internal import TenfourPackets

/// The packets of one talker during a talkspurt, which wait for their time in the live stream.
///
/// The time of a packet is that of the talkspurt's first packet plus the difference of their timestamps. The first
/// packet is held for `LiveTimeline.hold` after its arrival, so that packets that were reordered or retransmitted are in
/// time. `LiveDelay` shifts all packets when they have come too early or too late for a while.
struct LiveTalker: Sendable {
    let ssrc: SSRC
    /// The arrival of the talkspurt's first packet.
    let since: Instant
    private(set) var lastArrival: Instant
    /// The TOC of the packet that was played last; nil before the first.
    private(set) var playedTOC: OpusTOC?

    private var newest: Newest
    /// The packets in the order of their time.
    private var queue: [Queued] = []
    private var delay = LiveDelay()

    /// The newest packet by its sequence number.
    private struct Newest: Sendable {
        var sequenceNumber: SequenceNumber
        var timestamp: RTPTimestamp
        var start: FrameCount
        var frameCount: FrameCount
    }

    private struct Queued: Sendable {
        var start: FrameCount
        var frameCount: FrameCount
        var payload: [UInt8]
    }

    /// The time after the last packet at which a talkspurt is over.
    static let pause = Duration.milliseconds(300)
    /// The largest difference of the timestamps of two packets in one talkspurt. After a larger one, the talker's
    /// timestamps have jumped.
    private static let longestStep = FrameCount(48_000)
    /// The maximum time that a packet may wait. A packet further ahead is dropped.
    private static let longestWait = FrameCount(48_000)
    private static let maximumQueueCount = 400

    /// Begins a talkspurt with a packet that arrives at `position` of the stream.
    init(_ packet: borrowing ArrivedPacket, from ssrc: SSRC, at now: Instant, _ position: FrameCount) {
        self.ssrc = ssrc
        since = now
        lastArrival = now
        newest = Newest(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
            start: (position + LiveTimeline.hold).roundedUp, frameCount: packet.frameCount)
        enqueue(packet, at: newest.start)
    }

    /// Queues a packet that arrives at `position` of the stream. Drops it if its time has passed at `cursor`, or if it
    /// is in the queue already.
    mutating func insert(
        _ packet: borrowing ArrivedPacket, at now: Instant, _ position: FrameCount, cursor: FrameCount
    ) {
        lastArrival = max(lastArrival, now)
        let step = packet.timestamp.distance(after: newest.timestamp)
        let isNewer = packet.sequenceNumber.distance(after: newest.sequenceNumber) > 0
        let hasJumped = step < .zero - Self.longestStep || step > Self.longestStep
        if isNewer, hasJumped || step < .zero || (packet.marker && step > newest.frameCount) {
            let end = queue.last.map { $0.start + $0.frameCount } ?? cursor
            newest.start = max((position + LiveTimeline.hold).roundedUp, end)
            delay = LiveDelay()
        } else if hasJumped {
            return
        } else if isNewer {
            newest.start += step
        }
        var start = isNewer ? newest.start : newest.start + step
        if isNewer {
            (newest.sequenceNumber, newest.timestamp) = (packet.sequenceNumber, packet.timestamp)
            newest.frameCount = packet.frameCount
        }
        if packet.isOriginal {
            let isLate = start + packet.frameCount <= cursor
            let shift = delay.shift(
                lateness: position + LiveTimeline.hold - start, isTooLate: isLate, at: now)
            if shift != .zero {
                start += shift
                newest.start += shift
                for index in queue.indices { queue[index].start += shift }
            }
        }
        guard start + packet.frameCount > cursor, start <= position + Self.longestWait else { return }
        enqueue(packet, at: start)
    }

    private mutating func enqueue(_ packet: borrowing ArrivedPacket, at start: FrameCount) {
        guard queue.count < Self.maximumQueueCount else { return }
        let index = queue.lastIndex { $0.start <= start }
        if let index, queue[index].start == start { return }
        let payload = packet.payload
        queue.insert(
            Queued(start: start, frameCount: packet.frameCount, payload: payload), at: index.map { $0 + 1 } ?? 0)
    }

    mutating func hasLeft() { lastArrival = .start }

    func isOver(at now: Instant) -> Bool { queue.isEmpty && now - lastArrival >= Self.pause }

    /// Drops the packets whose time has passed at `cursor`. A packet whose time has passed by less than half its
    /// duration is kept, because it can still be heard almost in time.
    mutating func drop(before cursor: FrameCount) {
        while let first = queue.first, (cursor - first.start).rawValue * 2 > first.frameCount.rawValue {
            queue.removeFirst()
        }
    }

    /// The start of the next packet; nil if none waits.
    var nextStart: FrameCount? { queue.first?.start }

    mutating func removeFirst() -> (payload: [UInt8], frameCount: FrameCount) {
        let first = queue.removeFirst()
        playedTOC = OpusTOC(rawValue: first.payload[0])
        return (first.payload, first.frameCount)
    }
}

extension FrameCount {
    /// The smallest multiple of the shortest packet that is not less.
    fileprivate var roundedUp: FrameCount {
        let step = FillingPacket.step.rawValue
        return FrameCount((rawValue + step - 1) / step * step)
    }
}
