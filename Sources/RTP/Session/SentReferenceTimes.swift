internal import TenfourPackets

/// The reference times (wall-clock times) in our last reports. An echo of one of them measures the round trip (RFC 3611
/// section 4.4).
struct SentReferenceTimes: Sendable {
    private var times: [ShortNTPTime] = []

    private static let maximumCount = 4

    mutating func insert(_ time: ShortNTPTime) {
        times.append(time)
        if times.count > Self.maximumCount { times.removeFirst() }
    }

    /// Whether our reports recently carried `time`, so that an echo of it is valid.
    func contains(_ time: ShortNTPTime) -> Bool { times.contains(time) }
}
