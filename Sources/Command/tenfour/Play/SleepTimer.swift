import TenfourAudioCore
import TenfourPlayer

/// Fades playback out before a moment, at which it is to stop. Reads no clock.
struct SleepTimer {
    private let end: Instant
    private let fade: Duration
    private var isFading = false

    /// The longest fade-out, and the largest part of the time that it takes.
    private static let longestFade = Duration.seconds(20)
    private static let largestShare = 0.5

    init(_ duration: Duration, from now: Instant) {
        end = now + duration
        fade = min(Self.longestFade, duration * Self.largestShare)
    }

    /// The time that is left, at least zero.
    func left(at now: Instant) -> Duration { max(end - now, .zero) }

    /// Returns the duration of the fade-out that is to begin now, once; else nil.
    mutating func fadeOut(at now: Instant) -> Duration? {
        guard !isFading, left(at: now) <= fade else { return nil }
        isFading = true
        return left(at: now)
    }

    func isOver(at now: Instant) -> Bool { now >= end }
}
