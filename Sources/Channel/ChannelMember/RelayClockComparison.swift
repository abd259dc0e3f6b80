internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Compares our own clock with the relay's, also while the channel uses the relay's (Protocol/06-control.md, section
/// "Clock").
///
/// Instants are of CLOCK_BOOTTIME.
struct RelayClockComparison: Sendable {
    /// Our own clock, whether the channel uses it or not.
    private var own: WallClockEstimate
    private var isOwnUsed: Bool
    /// The relay's clock; nil until the relay has answered a renewal.
    private var relay: (clock: WallClockEstimate, endpoint: Endpoint, error: Duration)?
    /// The difference that was posted last, and the relay that it was about; nil if the clocks agree.
    private var posted: (ahead: Duration, endpoint: Endpoint)?

    /// The error of a measurement up to which a difference counts as it was measured.
    private static let usualError = Duration.seconds(1)
    /// The difference below which clocks that differed count as equal again.
    private static let agreement = Duration.milliseconds(2_500)
    /// The change of a difference above which it is posted again.
    private static let change = Duration.seconds(5)

    /// Begins with our own clock at `boot`.
    init(_ own: WallClock, isUsed: Bool, at boot: Instant) {
        self.own = WallClockEstimate(own, isSynchronised: isUsed, at: boot)
        isOwnUsed = isUsed
    }

    /// Takes over our own clock. Returns whether it was set since the last time, or is now used or no longer used.
    mutating func set(_ own: WallClock, isUsed: Bool, at boot: Instant) -> Bool {
        let before = self.own.reading(at: boot, suspended: .zero).wall
        let step = Int64(clamping: own.sinceEpoch).subtractingReportingOverflow(Int64(clamping: before.sinceEpoch))
        let wasSet = step.partialValue.magnitude >= Self.smallestStep || isUsed != isOwnUsed
        self.own = WallClockEstimate(own, isSynchronised: isUsed, at: boot)
        isOwnUsed = isUsed
        return wasSet
    }

    /// The step of our own clock, in milliseconds, from which it counts as set.
    private static let smallestStep: UInt64 = 2_000

    /// Takes over the relay's clock from an answer that has come `roundTrip` after its question. At best the relay has
    /// read its clock in the middle.
    mutating func relayAnswered(_ clock: WallClock, roundTrip: Duration, by endpoint: Endpoint, at boot: Instant) {
        relay = (WallClockEstimate(clock, isSynchronised: false, at: boot - roundTrip / 2), endpoint, roundTrip / 2)
    }

    /// The relay's clock less ours; nil until the relay has answered a renewal.
    func difference(at boot: Instant) -> ClockDifference? {
        guard let relay else { return nil }
        let clocks = [relay.clock, own].map { Int64(clamping: $0.reading(at: boot, suspended: .zero).wall.sinceEpoch) }
        let ahead = clocks[0].subtractingReportingOverflow(clocks[1]).partialValue
        // A century is enough, and no sum of it overflows.
        let limited = min(max(ahead, -Self.century), Self.century)
        return ClockDifference(ahead: .milliseconds(limited), isOwnUsed: isOwnUsed)
    }

    private static let century: Int64 = 3_153_600_000_000

    /// Returns the event about a difference that is new, has changed by more than 5 s, or is over; nil if there is none.
    mutating func nextEvent(at boot: Instant) -> ChannelEvent? {
        guard let relay, let difference = difference(at: boot) else { return nil }
        let isSure = relay.error <= Self.usualError || difference.magnitude - relay.error >= ClockDifference.reported
        if difference.magnitude >= ClockDifference.reported, isSure {
            if let posted, posted.endpoint == relay.endpoint {
                let change = difference.ahead - posted.ahead
                guard change > Self.change || change < .zero - Self.change else { return nil }
            }
            posted = (difference.ahead, relay.endpoint)
            return .relayClockDiffers(difference)
        }
        guard let posted, difference.magnitude < Self.agreement else { return nil }
        self.posted = nil
        // The user has not learned that this relay's clock differs.
        return posted.endpoint == relay.endpoint ? .relayClockAgrees : nil
    }
}
