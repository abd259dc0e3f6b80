internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The limits on the age of media where our clock is synchronised and the talker's epoch says the same of its clock
/// (Protocol/13-members.md, section "Freshness").
struct MediaFreshness: Sendable {
    /// Our wall clock minus CLOCK_BOOTTIME, in milliseconds.
    private let offset: Int64
    /// Media that was said earlier by its talker's clock was said before we came, in milliseconds since 1970.
    private let earliest: Int64

    /// The largest age of a packet, in milliseconds.
    static let maximumAge = Int64(Announcement.maximumSynchronisedError)
    /// The largest age of a packet at the moment when we came, in milliseconds.
    static let maximumAgeAtStart: Int64 = 250

    /// `start` is CLOCK_BOOTTIME at our first WELCOME since this program began, nil before it. Returns nil if our clock is
    /// not synchronised: it then says nothing about age.
    init?(_ clocks: ClockReading, since start: Instant?) {
        guard clocks.isSynchronised else { return nil }
        let offset = Int64(clamping: clocks.wall.sinceEpoch) - clocks.bootMilliseconds
        self.offset = offset
        earliest = start.map { $0.nanoseconds / 1_000_000 + offset - Self.maximumAgeAtStart } ?? .min
    }

    /// Returns the age in milliseconds of a packet that its talker said at `said`, in milliseconds since 1970, and that
    /// arrives at `boot` (CLOCK_BOOTTIME in milliseconds); nil unless it is too old.
    func refusedAge(saidAt said: Int64, arrivingAt boot: Int64) -> Int64? {
        said < max(boot + offset - Self.maximumAge, earliest) ? boot + offset - said : nil
    }
}
