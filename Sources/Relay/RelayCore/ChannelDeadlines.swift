internal import TenfourAudioCore
internal import TenfourSession

/// The times at which something is due in the channels of a relay, such as roster updates.
///
/// The channels are polled together, at most a hundred times a second.
struct ChannelDeadlines: Sendable {
    private var deadlines: [ChannelIndex: Instant] = [:]
    /// The earliest time at which a channel is due; nil if nothing is. It is stored, because it is read for each packet.
    private(set) var next: Instant?

    private static let interval = Duration.milliseconds(10)

    func contains(_ channel: ChannelIndex) -> Bool { deadlines[channel] != nil }

    /// A channel is due at `moment`, or earlier, if it was already due earlier.
    mutating func expect(_ channel: ChannelIndex, at moment: Instant) {
        deadlines[channel] = deadlines[channel].map { min($0, moment) } ?? moment
        next = next.map { min($0, moment) } ?? moment
    }

    /// Expects a channel again that `takeDue` has returned at `now`: at `moment`, but not before the next poll.
    mutating func expectAgain(_ channel: ChannelIndex, at moment: Instant, after now: Instant) {
        expect(channel, at: max(moment, now + Self.interval))
    }

    /// Removes and returns the channels that are due.
    mutating func takeDue(at now: Instant) -> [ChannelIndex] {
        guard let due = next, due <= now else { return [] }
        let channels = deadlines.filter { $0.value <= now }.map(\.key).sorted { $0.number < $1.number }
        for channel in channels { deadlines[channel] = nil }
        next = deadlines.values.min().map { max($0, now + Self.interval) }
        return channels
    }
}
