internal import RTP
internal import Sound

/// When the next report is due (RFC 3550 section 6.2 and 6.3): seldom enough that all reports together take 5 % of the
/// session's bits, never more than once a second, spread by chance so that a crowd does not speak at once.
struct ReportSchedule: Sendable {
    private(set) var deadline: Instant?
    private var averageByteCount = 120.0
    private var isFirst = true

    /// 5 % of 48 kbit/s, in bytes a second.
    private static let bandwidth = 300.0
    private static let minimum = 1.0
    /// IP and UDP.
    private static let overhead = 28.0
    /// What the draw's average would otherwise shorten the interval by (e − 3/2).
    private static let compensation = 1.21828

    /// Arms the timer for a session of `memberCount`, ourselves included. `chance` is any number.
    mutating func arm(at now: Instant, memberCount: Int, chance: UInt64) {
        let fair = averageByteCount * Double(memberCount) / Self.bandwidth
        let interval = max(fair, isFirst ? Self.minimum / 2 : Self.minimum)
        let spread = 0.5 + Double(chance >> 11) / Double(1 << 53)
        deadline = now + .nanoseconds(Int64(interval * spread / Self.compensation * 1e9))
        isFirst = false
    }

    /// Learns from any report, sent or received, how large they are.
    mutating func observe(byteCount: Int) {
        averageByteCount += (Double(byteCount) + Self.overhead - averageByteCount) / 16
    }
}
