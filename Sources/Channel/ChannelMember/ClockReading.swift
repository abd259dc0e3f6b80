internal import TenfourAudioCore
internal import TenfourChannelKeys

/// Our clocks, read at one moment.
struct ClockReading: Sendable {
    var wall: WallClock
    /// Whether the kernel calls the wall clock synchronised. False where the time was taken from a relay.
    var isSynchronised: Bool
    /// CLOCK_BOOTTIME, which counts on while the machine sleeps.
    var boot: Instant
    /// CLOCK_BOOTTIME less CLOCK_MONOTONIC: for how long the machine has slept since it was started.
    var suspended: Duration

    /// CLOCK_BOOTTIME in milliseconds.
    var bootMilliseconds: Int64 { boot.nanoseconds / 1_000_000 }

    /// How far `announcement` is from our wall clock, in milliseconds.
    func error(of announcement: Announcement) -> UInt64 {
        (Int64(clamping: wall.sinceEpoch) - announcement.milliseconds).magnitude
    }

    /// How far the first announcement of an epoch may be from our wall clock, in milliseconds.
    func maximumError(of announcement: Announcement) -> UInt64 {
        bothSynchronised(announcement) ? Announcement.maximumSynchronisedError : Announcement.maximumClockError
    }

    func bothSynchronised(_ announcement: Announcement) -> Bool {
        isSynchronised && announcement.epoch.timing?.isSynchronised ?? false
    }
}

/// The time of day as a member knows it: its own clock if that is synchronised, otherwise the relay's.
struct ChannelClock: Sendable {
    private var isSynchronised = false
    /// Nil until a clock is known.
    private var estimate: WallClockEstimate?

    /// Takes our own clock at `boot` (CLOCK_BOOTTIME). One that is not synchronised is not read: the time known before
    /// counts on.
    mutating func set(_ clock: WallClock, isSynchronised: Bool, at boot: Instant) {
        self.isSynchronised = isSynchronised
        if isSynchronised {
            estimate = WallClockEstimate(clock, isSynchronised: true, at: boot)
        } else if let reading = estimate?.reading(at: boot, suspended: .zero), reading.isSynchronised {
            estimate = WallClockEstimate(reading.wall, isSynchronised: false, at: boot)
        }
    }

    /// Takes the relay's clock at `boot`, unless our own is synchronised.
    mutating func setByRelay(_ clock: WallClock, at boot: Instant) {
        if !isSynchronised { estimate = WallClockEstimate(clock, isSynchronised: false, at: boot) }
    }

    /// Nil until a clock is known.
    func reading(at boot: Instant, suspended: Duration) -> ClockReading? {
        estimate?.reading(at: boot, suspended: suspended)
    }
}

/// The time of day, counted on by CLOCK_BOOTTIME.
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
