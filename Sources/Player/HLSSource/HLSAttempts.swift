internal import TenfourAudioCore
internal import TenfourPacing

/// Decides whether and when a segment that could not be fetched is requested again. A live segment may be announced
/// before the server has it. Reads no clock.
struct HLSAttempts {
    /// The moment of the next request; nil while there is nothing to wait for.
    private(set) var retry: Instant?
    /// Whether the segment is left out.
    private(set) var isGivenUp = false
    private var backoff = Backoff(first: .milliseconds(500), longest: .seconds(2))

    /// Four requests within 3.5 s.
    private static let limit = 4
    /// The limit while no segment of the stream has arrived, so that an address without segments is told soon.
    private static let firstLimit = 2

    /// Records that a request has failed. `isFirst` is true while no segment of the stream has arrived.
    mutating func failed(at now: Instant, isFirst: Bool) {
        let pause = backoff.next()
        isGivenUp = backoff.count >= (isFirst ? Self.firstLimit : Self.limit)
        retry = isGivenUp ? nil : now + pause
    }

    /// Records that the segment is requested again.
    mutating func requested() { retry = nil }

    func isDue(at now: Instant) -> Bool { retry.map { $0 <= now } ?? !isGivenUp }
}

extension HLSAttempts {
    /// Leaves the segment out.
    mutating func giveUp() {
        isGivenUp = true
        retry = nil
    }
}
