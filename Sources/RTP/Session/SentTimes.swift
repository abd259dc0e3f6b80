internal import TenfourAudioCore

/// When our recent packets were sent, in steps of 100 ms for the last 13 s, and since when we transmit. Packets are counted
/// from one on.
struct SentTimes: Sendable {
    /// The number of packets sent.
    private(set) var count = 0
    /// The time of the last packet; nil before the first.
    private(set) var last: Instant?
    /// The first packet of the present transmission, or of the last one.
    private(set) var begin: Step?
    private var steps: [Step] = []

    /// A packet and its time.
    struct Step: Sendable {
        var number: Int
        var at: Instant
    }

    /// The time without packets after which a transmission has ended. With discontinuous transmission, packets come up to
    /// 600 ms apart.
    static let pause = Duration.seconds(1)
    private static let step = Duration.milliseconds(100)
    private static let maximumCount = 128

    /// Records the next packet. Returns whether it begins a transmission.
    mutating func packetSent(at now: Instant) -> Bool {
        let isFirst = last.map { now - $0 >= Self.pause } ?? true
        count += 1
        last = now
        if isFirst { begin = Step(number: count, at: now) }
        if isFirst || steps.last.map({ now - $0.at >= Self.step }) ?? true {
            if steps.count == Self.maximumCount { steps.removeFirst() }
            steps.append(Step(number: count, at: now))
        }
        return isFirst
    }

    func isTransmitting(at now: Instant) -> Bool { last.map { now - $0 < Self.pause } ?? false }

    /// The number of packets sent until `time`, or up to 100 ms fewer; zero if none is known that was sent before.
    func count(until time: Instant) -> Int { steps.last { $0.at <= time }?.number ?? 0 }

    /// The time at which a packet was sent, or up to 100 ms before; that of the oldest known packet if it is older.
    func time(of number: Int) -> Instant? { (steps.last { $0.number <= number } ?? steps.first)?.at }
}
