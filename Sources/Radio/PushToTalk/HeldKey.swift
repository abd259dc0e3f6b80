public import TenfourAudioCore

/// A key of a terminal that is held to talk, or toggles if the terminal does not report when a key is released.
///
/// Reads no clock and no terminal. A held key repeats; without a repeat for `patience` the key counts as released,
/// because the report of the release may be lost: with the connection, or when another window takes the keyboard. The
/// first repeat usually comes after 250 to 660 ms, the others about thirty times a second.
public struct HeldKey: Sendable {
    /// What to do with the microphone.
    public enum Action: Hashable, Sendable {
        case press, release, toggle
    }

    /// Whether the terminal reports releases, as terminals with the kitty keyboard protocol do.
    public var reportsReleases: Bool
    /// Whether the key is held. Always false if releases are not reported.
    public private(set) var isHeld = false
    private var lastSign = Instant.start
    /// Whether repeats count: not after the focus was lost, until a new press.
    private var takesRepeats = false
    /// When the terminal got the focus again; nil once the key has been reported since.
    private var focusGain: Instant?

    /// The time from the focus until a first repeat is a press: a key that was held all the time repeats sooner.
    private static let settling = Duration.milliseconds(300)
    /// The time without a repeat after which the key counts as released.
    public static let patience = Duration.milliseconds(1_500)

    public init(reportsReleases: Bool) { self.reportsReleases = reportsReleases }

    /// The time at which `timeElapsed` is to be called; nil if the key is not held.
    public var nextDeadline: Instant? { isHeld ? lastSign + Self.patience : nil }

    /// The key went down, or the terminal reports a repeat as another press.
    public mutating func pressed(at now: Instant) -> Action? {
        (takesRepeats, focusGain) = (true, nil)
        return reportsReleases ? hold(at: now) : .toggle
    }

    /// The key repeats. A repeat that follows a release by `timeElapsed` presses again, because the key is still down.
    ///
    /// kitty did not see the release in another window, and reports the next press as a repeat (seen with 0.26.5).
    public mutating func repeated(at now: Instant) -> Action? {
        guard reportsReleases else { return nil }
        if let focusGain, now - focusGain >= Self.settling { takesRepeats = true }
        focusGain = nil
        return takesRepeats ? hold(at: now) : nil
    }

    /// The key went up.
    public mutating func released() -> Action? {
        takesRepeats = false
        return letGo()
    }

    /// The terminal lost the focus, or was closed: the release will not be reported.
    public mutating func lostFocus() -> Action? {
        (takesRepeats, focusGain) = (false, nil)
        return letGo()
    }

    /// The terminal has the focus again.
    public mutating func gainedFocus(at now: Instant) { if !takesRepeats { focusGain = now } }

    public mutating func timeElapsed(at now: Instant) -> Action? {
        guard let deadline = nextDeadline, deadline <= now else { return nil }
        return letGo()
    }

    private mutating func hold(at now: Instant) -> Action? {
        lastSign = now
        guard !isHeld else { return nil }
        isHeld = true
        return .press
    }

    private mutating func letGo() -> Action? {
        guard isHeld else { return nil }
        isHeld = false
        return .release
    }
}
