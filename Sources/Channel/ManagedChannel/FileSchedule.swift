internal import TenfourAudioCore

/// Decides when a relay writes its file of a managed channel, and whether what was deposited is on disk.
struct FileSchedule: Sendable {
    /// The moment from which the file should be written; nil if nothing has changed since the latest writing began.
    private(set) var due: Instant?
    private(set) var isWriting = false
    /// Whether a deposit is not on disk. Nothing of it is told before that.
    private(set) var isHeld = false
    /// Whether there was a deposit after the writing began.
    private var isHeldAnew = false

    /// The pause in which changes are collected that members can repeat, and the pause after a failure.
    private static let pause: Duration = .seconds(1)

    /// The moment of the next writing; nil while the file is being written.
    var deadline: Instant? { isWriting ? nil : due }

    /// Plans the writing of a change whose loss does little harm.
    mutating func writeSoon(at now: Instant) { due = due ?? now + Self.pause }

    /// Plans the writing of a deposit.
    mutating func hold(at now: Instant) {
        (isHeld, isHeldAnew) = (true, true)
        due = now
    }

    mutating func begin() {
        (isWriting, isHeldAnew) = (true, false)
        due = nil
    }

    /// Takes note that the content is on disk, or that it could not be written. Without `begin` it is the present content.
    mutating func finish(isStored: Bool, at now: Instant) {
        if !isStored {
            due = now + Self.pause
        } else if !isWriting {
            (due, isHeld) = (nil, false)
        } else if !isHeldAnew {
            isHeld = false
        }
        isWriting = false
    }
}
