public import TenfourAudioCore

/// Tells the time in frames that the card has asked for, and at which frame anything else happened.
///
/// A request comes when the card has played the frames before it, so requests are the ticks of its clock; how late a
/// thread woke up to hear one is noise, and is filtered out over some twenty requests. Requests that come in bursts are evened out
/// in the same way.
public struct CardClock: BitwiseCopyable, Sendable {
    /// Frames asked for so far, at 48 000 Hz, those of time that was lost included.
    public private(set) var position = FrameCount(0)
    private var origin: Instant?

    /// A request more than 30 ms late is no noise: the card stood still (an XRUN, a suspended machine).
    private static var longestNoise: Int64 { 30_000_000 }
    /// A request may come sooner than its turn, since sound servers ask for a quantum of up to 2048 frames at once. One that is
    /// more than 60 ms early tells that the clock was set back.
    private static var longestBurst: Int64 { 60_000_000 }
    private static var smoothing: Int64 { 20 }

    public init() {}

    /// The card asks for more at `now`. Returns how many frames of its time have been lost since the last request, which
    /// is nearly always none: they are in `position` already, and playout skips them.
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

    /// The request was for `frameCount` frames, which are on their way.
    @_noAllocation @_noLocks
    public mutating func advance(by frameCount: FrameCount) { position += frameCount }

    /// The card itself says that so much of its time is lost (an underrun), which may be less than could be told from noise.
    @_noAllocation @_noLocks
    public mutating func lose(_ frameCount: FrameCount) { if origin != nil { position += frameCount } }

    /// From now on the card asks for the same frames by `frames` later, or sooner where that is below zero.
    @_noAllocation @_noLocks
    public mutating func shift(by frames: FrameCount) {
        guard let start = origin else { return }
        origin = Instant(nanoseconds: start.nanoseconds + Self.nanoseconds(in: frames))
    }

    /// Which frame the card asked for at `instant`, or would have. Zero before the first request.
    @_noAllocation @_noLocks
    public func position(at instant: Instant) -> FrameCount {
        guard let origin else { return .zero }
        return Self.frames(in: instant.nanoseconds - origin.nanoseconds)
    }

    // 48 frames are a million nanoseconds: exact both ways, and 64 bits last for years.
    private static func frames(in nanoseconds: Int64) -> FrameCount { FrameCount(Int(nanoseconds * 6 / 125_000)) }
    private static func nanoseconds(in frames: FrameCount) -> Int64 { Int64(frames.rawValue) * 125_000 / 6 }
}
