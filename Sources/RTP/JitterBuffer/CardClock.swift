public import TenfourAudioCore

/// Counts time in frames that the card has requested, and converts instants to that count.
///
/// The card requests audio when it has played the frames of the previous request, so its requests are the ticks of its
/// clock. A thread wakes up for a request at a time that varies at random. The clock averages this variation over about
/// twenty requests. If requests come in bursts, their times are averaged in the same way.
public struct CardClock: BitwiseCopyable, Sendable {
    /// The number of frames requested so far at 48 000 Hz, including the frames of lost time.
    public private(set) var position = FrameCount(0)
    /// The time of position 0, computed from the averaged times of requests; nil before the first request.
    private var origin: Instant?

    /// The longest delay of a request, in nanoseconds, that counts as random: 30 ms. If the delay is longer, the card
    /// stood still (an XRUN, a suspended machine).
    private static var longestNoise: Int64 { 30_000_000 }
    /// The longest time, in nanoseconds, by which a request may come early: 60 ms, because sound servers request up to
    /// 2048 frames at a time. If a request comes earlier, the clock was set back.
    private static var longestBurst: Int64 { 60_000_000 }
    /// The number of requests over whose times the clock averages.
    private static var smoothing: Int64 { 20 }

    public init() {}

    /// Records that the card requests audio at `now`. Returns the number of frames that the card has lost since the
    /// last request, usually zero. `position` includes the lost frames already, and playout skips them.
    @_noAllocation @_noLocks
    public mutating func request(at now: Instant) -> FrameCount {
        guard let start = origin else {
            origin = now
            return .zero
        }
        let error = now.nanoseconds - (start.nanoseconds + Self.nanoseconds(in: position))
        guard error > Self.longestNoise || error < -Self.longestBurst else {
            origin = Instant(nanoseconds: start.nanoseconds + error / Self.smoothing)
            return .zero
        }
        let lost = error > 0 ? Self.frames(in: error) : .zero
        position += lost
        origin = Instant(nanoseconds: now.nanoseconds - Self.nanoseconds(in: position))
        return lost
    }

    /// Adds the frames of a request to `position`.
    @_noAllocation @_noLocks
    public mutating func advance(by frameCount: FrameCount) { position += frameCount }

    /// Adds frames of lost time that the card itself has reported (an underrun). `request` cannot detect a loss shorter
    /// than `longestNoise`.
    @_noAllocation @_noLocks
    public mutating func recordLoss(_ frameCount: FrameCount) { if origin != nil { position += frameCount } }

    /// Moves the expected time of all later requests: later by `frames`, or earlier if `frames` is negative.
    @_noAllocation @_noLocks
    public mutating func shift(by frames: FrameCount) {
        guard let start = origin else { return }
        origin = Instant(nanoseconds: start.nanoseconds + Self.nanoseconds(in: frames))
    }

    /// The position of the frame that the card requested, or would have requested, at `instant`. Zero before the first
    /// request.
    @_noAllocation @_noLocks
    public func position(at instant: Instant) -> FrameCount {
        guard let origin else { return .zero }
        return Self.frames(in: instant.nanoseconds - origin.nanoseconds)
    }

    // Converts exactly, because 48 frames last a million nanoseconds. The products fit in 64 bits for years.
    private static func frames(in nanoseconds: Int64) -> FrameCount { FrameCount(Int(nanoseconds * 6 / 125_000)) }
    private static func nanoseconds(in frames: FrameCount) -> Int64 { Int64(frames.rawValue) * 125_000 / 6 }
}
