internal import TenfourPackets

/// The last wall-clock times that our reports carried, so that an echo of one of them measures the round trip (RFC 3611
/// section 4.4).
struct SentReferenceTimes: Sendable {
    private var times: [ShortNTPTime] = []

    private static let maximumCount = 4

    mutating func insert(_ time: ShortNTPTime) {
        times.append(time)
        if times.count > Self.maximumCount { times.removeFirst() }
    }

    /// Whether an echo of `time` is believed.
    func contains(_ time: ShortNTPTime) -> Bool { times.contains(time) }
}
