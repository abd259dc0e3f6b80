import TenfourAudioCore
import TenfourCommandSupport

/// Draws attention to a call while it rings: by a tone on a sound card, the terminal's beep (BEL), and a notification of the
/// desktop. Use it on one thread.
struct CallAlert {
    /// The ways in which a call draws attention.
    struct Settings {
        /// Whether the terminal beeps.
        var beeps = false
        /// The card on which a tone rings; nil if none does.
        var card: String?
        /// Shows calls on the desktop; nil if they are not shown there.
        var notifier: CallNotifier?
    }

    private let settings: Settings
    private var tone: RingTone?
    private var isBeeping = false
    /// The earliest time of the next beep, also that of another call: anybody nearby can call and give up again at once.
    private var nextBeep = Instant.start

    init(_ settings: Settings) { self.settings = settings }

    /// A call rings. `hasTerminal` says whether a person sits at a terminal.
    mutating func begin(_ caller: String, hasTerminal: Bool) {
        tone = settings.card.map { RingTone(card: $0) }
        guard hasTerminal else { return }
        isBeeping = settings.beeps
        settings.notifier?.caller = caller
    }

    /// No call rings any more.
    mutating func end() {
        tone = nil
        isBeeping = false
        settings.notifier?.caller = nil
    }

    /// Lets the terminal beep if it is time. Call it a few times per second.
    mutating func update(at now: Instant) {
        if takeBeep(at: now), Terminal.hasForeground { Terminal.control("\u{7}") }
    }

    /// Returns whether the terminal is to beep, once per beep.
    mutating func takeBeep(at now: Instant) -> Bool {
        guard isBeeping, nextBeep <= now else { return false }
        nextBeep = now + RingTone.interval
        return true
    }

    /// Returns, once, a sentence about a desktop that shows no notifications.
    func takeFailure() -> String? {
        settings.notifier?.takeFailure().map { "calls are not shown on the desktop: \($0)" }
    }

    /// Whether nothing is left to be said to the desktop.
    var isSettled: Bool { settings.notifier?.isSettled ?? true }
}
