internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The wall clock and CLOCK_BOOTTIME of this machine at one moment.
struct ClockReading: Sendable {
    var wall: WallClock
    /// Whether the kernel reports the wall clock as synchronised. False if the time was taken from a relay.
    var isSynchronised: Bool
    /// CLOCK_BOOTTIME, which continues while the machine sleeps.
    var boot: Instant
    /// CLOCK_BOOTTIME minus CLOCK_MONOTONIC: the time that the machine has slept since it was started.
    var suspended: Duration

    /// CLOCK_BOOTTIME in milliseconds.
    var bootMilliseconds: Int64 { boot.nanoseconds / 1_000_000 }

    /// Returns the absolute difference between the time in `announcement` and our wall clock, in milliseconds.
    func error(of announcement: AnnouncedEpoch) -> UInt64 {
        (Int64(clamping: wall.sinceEpoch) - announcement.milliseconds).magnitude
    }

    /// Returns the largest accepted difference between the time in an epoch's first announcement and our wall clock, in
    /// milliseconds.
    func maximumError(of announcement: AnnouncedEpoch) -> UInt64 {
        bothSynchronised(announcement) ? Announcement.maximumSynchronisedError : Announcement.maximumClockError
    }

    func bothSynchronised(_ announcement: AnnouncedEpoch) -> Bool {
        isSynchronised && announcement.epoch.timing?.isSynchronised ?? false
    }
}

/// The time of day for a member: the system's clock if it is synchronised, otherwise the relay's clock.
struct ChannelClock: Sendable {
    private var isSynchronised = false
    /// The time of day; nil until it is known.
    private var estimate: WallClockEstimate?

    /// Sets the time of day to our own clock at `boot` (CLOCK_BOOTTIME). A clock that is not synchronised is ignored;
    /// the last known time of day is then extrapolated.
    mutating func set(_ clock: WallClock, isSynchronised: Bool, at boot: Instant) {
        self.isSynchronised = isSynchronised
        if isSynchronised {
            estimate = WallClockEstimate(clock, isSynchronised: true, at: boot)
        } else if let reading = estimate?.reading(at: boot, suspended: .zero), reading.isSynchronised {
            estimate = WallClockEstimate(reading.wall, isSynchronised: false, at: boot)
        }
    }

    /// Sets the time of day to the relay's clock at `boot` (CLOCK_BOOTTIME), unless our own clock is synchronised.
    mutating func setByRelay(_ clock: WallClock, at boot: Instant) {
        if !isSynchronised { estimate = WallClockEstimate(clock, isSynchronised: false, at: boot) }
    }

    /// Returns the wall clock at `boot` (CLOCK_BOOTTIME); nil until the time of day is known. The result also contains
    /// `suspended`.
    func reading(at boot: Instant, suspended: Duration) -> ClockReading? {
        estimate?.reading(at: boot, suspended: suspended)
    }
}

/// A reading of the wall clock, and the CLOCK_BOOTTIME of the reading. Later times of day are extrapolated from both.
struct WallClockEstimate: Sendable {
    private let clock: WallClock
    private let boot: Instant
    let isSynchronised: Bool

    init(_ clock: WallClock, isSynchronised: Bool, at boot: Instant) {
        self.clock = clock
        self.boot = boot
        self.isSynchronised = isSynchronised
    }

    func reading(at boot: Instant, suspended: Duration) -> ClockReading {
        let milliseconds = (boot.nanoseconds - self.boot.nanoseconds) / 1_000_000
        return ClockReading(
            wall: WallClock(milliseconds: clock.sinceEpoch &+ UInt64(max(milliseconds, 0))),
            isSynchronised: isSynchronised, boot: boot, suspended: suspended)
    }
}
