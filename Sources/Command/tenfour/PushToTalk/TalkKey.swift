import TenfourAudioCore
import TenfourCommandSupport
import TenfourPushToTalk

/// Space in the terminal: holds the microphone while it is down if the terminal reports releases, and toggles it
/// otherwise. Reads no clock and no terminal.
struct TalkKey {
    private let lease: MicrophoneLease
    /// Whether space toggles, because the session began with an open microphone.
    private let beganOpen: Bool
    private var key: HeldKey
    /// Whether the terminal has lost the focus since space was last reported.
    private(set) var hasLeftTerminal = false

    init(_ lease: MicrophoneLease, beganOpen: Bool, reportsReleases: Bool) {
        self.lease = lease
        self.beganOpen = beganOpen
        key = HeldKey(reportsReleases: !beganOpen && reportsReleases)
    }

    /// Whether space is held to talk.
    var isHeldToTalk: Bool { key.reportsReleases }

    var help: String { isHeldToTalk ? "hold space to talk" : "space opens and closes the microphone" }

    /// The terminal may tell that it reports releases after the start, over a slow connection. Returns a notice if space
    /// is held to talk from now on. Space that was pressed before no longer holds the microphone, unless it repeats.
    mutating func confirmReleases() -> String? {
        guard !beganOpen, !isHeldToTalk else { return nil }
        key.reportsReleases = true
        lease.vanish(.keyboard)
        return "this terminal reports when a key is released: hold space to talk"
    }

    /// Space was pressed, repeats, or was released. `now` is the time by CLOCK_MONOTONIC.
    mutating func handle(_ change: TerminalKey.Change, at now: Instant) {
        hasLeftTerminal = false
        let action =
            switch change {
            case .press: key.pressed(at: now)
            case .repeat: key.repeated(at: now)
            case .release: key.released()
            }
        switch action {
        case .toggle: lease.toggle(.keyboard)
        case .release: lease.release(.keyboard, at: now)
        case .press, nil: if let end = key.nextDeadline { lease.press(.keyboard, at: now, until: end) }
        }
    }

    /// The terminal has lost the focus, was closed, or the process is about to be stopped.
    mutating func leaveTerminal(isClosed: Bool) {
        hasLeftTerminal = true
        _ = key.lostFocus()
        // A toggle by space stays while another window has the focus.
        if isClosed || isHeldToTalk { lease.vanish(.keyboard) }
    }

    /// The terminal has the focus again.
    mutating func returnToTerminal(at now: Instant) { key.gainedFocus(at: now) }

    /// Releases the key if its repeats no longer come. The lease does the same, should this call be late.
    mutating func timeElapsed(at now: Instant) {
        if key.timeElapsed(at: now) == .release { lease.vanish(.keyboard) }
    }
}
