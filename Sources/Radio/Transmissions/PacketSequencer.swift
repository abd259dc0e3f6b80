internal import TenfourAudioCore
internal import TenfourPackets

/// Puts the packets of one transmission in the order of their audio, drops duplicates, and finds the gaps.
///
/// Positions count from the transmission's first packet. Any values are accepted: a jump of the timestamp by more than a
/// second, or further ahead than time has passed, leaves no gap.
struct PacketSequencer<Payload: Sendable>: Sendable {
    /// A packet in its order.
    struct Packet: Sendable {
        var payload: Payload
        var frameCount: FrameCount
        /// The time without audio before the packet, at most a second.
        var gap: FrameCount
        /// The number of packets before this one that were sent and never arrived; 0 in a pause of the talker.
        var lostCount: Int
    }

    private struct Queued: Sendable {
        var number: Int
        var start: FrameCount
        var frameCount: FrameCount
        var payload: Payload
    }

    /// The packets that wait, in the order of their numbers. Those before `head` have been taken.
    private var queue: [Queued] = []
    private var head = 0
    /// The newest packet by its sequence number.
    private var newest: Newest?
    /// The number of the packet that was taken last, and the position of the end of the audio so far.
    private var taken: (number: Int, end: FrameCount)?
    /// The number of old packets in a row whose timestamps are those of another stream.
    private var strayCount = 0

    private struct Newest: Sendable {
        var sequenceNumber: SequenceNumber
        var timestamp: RTPTimestamp
        /// The sequence number without the wrap, counted from the first packet.
        var number: Int
        var start: FrameCount
        var end: FrameCount
    }

    /// The largest difference of the timestamps of two packets in a transmission.
    private static var longestStep: FrameCount { FrameCount(48_000) }
    /// The largest difference of two sequence numbers in a transmission: a second of the shortest packets.
    private static var largestStep: Int { 400 }
    /// The largest time by which audio may be ahead of its arrival.
    private static var longestLead: FrameCount { FrameCount(96_000) }
    /// The number of old packets in a row after which the talker has begun to count anew.
    private static var strayLimit: Int { 3 }

    /// The number of packets that wait.
    var count: Int { queue.count - head }

    /// The position at which the newest packet ends.
    var end: FrameCount { newest?.end ?? .zero }

    /// Adds a packet. `elapsed` is the time since the arrival of the first packet. Drops a duplicate, and a packet whose
    /// successors have been taken.
    mutating func insert(_ payload: Payload, _ packet: ReceivedPacket, elapsed: FrameCount) {
        guard let newest else {
            add(payload, packet, number: 0, start: .zero)
            return
        }
        let step = packet.timestamp.distance(after: newest.timestamp)
        let distance = packet.sequenceNumber.distance(after: newest.sequenceNumber)
        let hasJumped =
            step > Self.longestStep || step < .zero - Self.longestStep || abs(distance) > Self.largestStep
        if distance > 0 || hasJumped {
            if distance <= 0 {
                strayCount += 1
                guard strayCount >= Self.strayLimit, packet.origin.isOriginal else { return }
            }
            let start = newest.start + step
            let isPlausible = !hasJumped && step > .zero && start <= elapsed + Self.longestLead
            add(
                payload, packet, number: newest.number + (hasJumped ? 1 : distance),
                start: isPlausible ? start : newest.end)
        } else {
            let number = newest.number + distance
            guard number > taken?.number ?? .min else { return }
            var index = queue.count
            while index > head, queue[index - 1].number > number { index -= 1 }
            guard index == head || queue[index - 1].number < number else { return }
            queue.insert(
                Queued(number: number, start: newest.start + step, frameCount: packet.frameCount, payload: payload),
                at: index)
        }
    }

    private mutating func add(_ payload: Payload, _ packet: ReceivedPacket, number: Int, start: FrameCount) {
        strayCount = 0
        newest = Newest(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, number: number, start: start,
            end: start + packet.frameCount)
        queue.append(Queued(number: number, start: start, frameCount: packet.frameCount, payload: payload))
    }

    /// Removes the next packet, if its audio begins before `limit`; nil if there is none.
    mutating func next(before limit: FrameCount) -> Packet? {
        guard head < queue.count, queue[head].start < limit else { return nil }
        let first = queue[head]
        head += 1
        if head > 256, head * 2 > queue.count {
            queue.removeFirst(head)
            head = 0
        }
        var packet = Packet(payload: first.payload, frameCount: first.frameCount, gap: .zero, lostCount: 0)
        if let taken {
            packet.gap = min(max(first.start - taken.end, .zero), Self.longestStep)
            packet.lostCount = first.number - taken.number - 1
        }
        taken = (first.number, max(first.start, taken?.end ?? .zero) + first.frameCount)
        return packet
    }
}
