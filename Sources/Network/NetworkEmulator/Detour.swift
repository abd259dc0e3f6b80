private import TenfourAudioCore

/// A route change: for a while every packet takes a longer way.
public struct Detour: Hashable, Sendable {
    /// On top of every other delay.
    public var extra: Duration
    /// Since the link began, or since the beginning of each `period`.
    public var window: Range<Duration>
    /// After this long the window comes again; nil when it comes once.
    public var period: Duration?

    public init(extra: Duration, during window: Range<Duration>, every period: Duration? = nil) {
        self.extra = extra
        self.window = window
        self.period = period
    }

    /// The delay of a packet that is sent `time` nanoseconds after the link's beginning, in nanoseconds.
    func delay(at time: Int64) -> Int64 {
        let period = self.period.map(Instant.nanoseconds(in:)) ?? 0
        let moment = period > 0 && time >= 0 ? time % period : time
        return window.contains(.nanoseconds(moment)) ? extra.asDelay : 0
    }
}
