private import TenfourAudioCore

/// A route change: during a window of time all packets take a longer path.
public struct Detour: Hashable, Sendable {
    /// The extra delay, added to all other delays.
    public var extra: Duration
    /// The time in which packets take the longer path, counted from the beginning of the link, or of each repetition if
    /// there is a `period`.
    public var window: Range<Duration>
    /// The time after which `window` repeats; nil if it occurs once.
    public var period: Duration?

    public init(extra: Duration, during window: Range<Duration>, every period: Duration? = nil) {
        self.extra = extra
        self.window = window
        self.period = period
    }

    /// The extra delay of a packet that is sent `time` nanoseconds after the beginning of the link, in nanoseconds.
    func delay(at time: Int64) -> Int64 {
        let period = self.period.map(Instant.nanoseconds(in:)) ?? 0
        let moment = period > 0 && time >= 0 ? time % period : time
        return window.contains(.nanoseconds(moment)) ? extra.asDelay : 0
    }
}
