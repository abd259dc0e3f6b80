import Glibc
import TenfourAudioCore
import TenfourChannelMember
import TenfourCommandSupport
import TenfourPushToTalk
import TenfourRadio
import TenfourRings
import TenfourSession

/// The microphone of a session in the terminal: the key that holds or toggles it, `tenfour ptt`, signals and the voice,
/// and the notices about it. Use it on one thread.
final class MicrophoneKeys {
    let lease: MicrophoneLease
    private let keyboard: Keyboard?
    private var space: HeldKey
    private let socket: PTTSocket?
    /// Why `tenfour ptt` cannot reach this session; nil if it can.
    private let socketError: String?
    private let events: Locked<[PushToTalk.Event]>
    private let voice: VoiceHolder?
    private let switches: [DeviceSwitch]
    private let session: RadioSession
    private var tones: ToneNotices
    private let timeOut: Duration?
    /// Whether space toggles, because the session began with an open microphone.
    private let beganOpen: Bool
    /// Whether the terminal has lost the focus since space was last reported.
    private var hasLeftTerminal = false

    /// The time for which the start waits for the terminal's answer, in milliseconds. A terminal that says nothing at all
    /// delays the start by this time.
    private static let patience: Int32 = 200

    /// Takes over the microphone of `session`, and waits until the terminal has told whether it reports releases. Throws
    /// `.failure` if the system has no thread left.
    init(_ session: RadioSession, _ settings: MicrophoneSettings, _ keyboard: Keyboard?) throws(RadioError) {
        do throws(MicrophoneLeaseError) {
            lease = try MicrophoneLease(settings.lease) { session.isMicrophoneOpen = $0 }
            voice = settings.followsVoice ? try VoiceHolder(lease) { session.capturedLevel } : nil
        } catch {
            throw RadioError(.failure, "cannot start a thread: \(unsafe String(cString: strerror(error.code)))")
        }
        let events = Locked<[PushToTalk.Event]>([])
        let tones = ToneNotices(settings.tones)
        lease.observe { [weak session] event in
            events.withLock { $0.append(event) }
            if let session { tones.play(event, in: session) }
        }
        self.tones = tones
        self.session = session
        switches = settings.switches
        self.events = events
        self.keyboard = keyboard
        timeOut = settings.lease.timeOut
        beganOpen = session.isMicrophoneOpen
        if beganOpen { lease.toggle(.session) }
        do {
            guard let directory = PTTSocketPath.directory else {
                throw RadioError(.unavailable, "XDG_RUNTIME_DIR is not set")
            }
            socket = try PTTSocket(at: PTTSocketPath.own(in: directory), lease: lease)
            socketError = nil
        } catch {
            (socket, socketError) = (nil, "\(error)")
        }
        keyboard?.settle(within: Self.patience)
        space = HeldKey(reportsReleases: !beganOpen && keyboard?.reportsReleases == true)
        TalkSignals.start(lease)
        for device in switches { lease.attach(device) }
    }

    /// Closes the microphone and removes the control socket.
    func stop() {
        TalkSignals.stop()
        voice?.stop()
        lease.stop()
        socket?.stop()
    }

    // MARK: Texts

    /// The notice about the microphone at the start.
    var opening: String {
        if voice != nil, !beganOpen {
            return "the microphone opens while you talk (VOX); headphones keep others from opening it"
        }
        return switch (beganOpen, keyboard != nil) {
        case (true, true): "the microphone is open: space closes it"
        case (true, false): "the microphone is open"
        case (false, true):
            space.reportsReleases
                ? "the microphone is closed: hold space to talk" : "the microphone is closed: space opens it"
        case (false, false):
            "the microphone is closed, and there is no keyboard to open it: start with --open"
                + (socket == nil ? "" : ", or run tenfour ptt toggle")
        }
    }

    /// A notice if `tenfour ptt` cannot reach this session.
    var socketNotice: String? { socketError.map { "tenfour ptt cannot reach this session: \($0)" } }

    var help: String {
        (space.reportsReleases ? "hold space to talk" : "space opens and closes the microphone") + Self.otherKeys
    }

    private static let otherKeys = ", m mutes the speaker, q quits"

    /// Returns the notices about the microphone since the last call.
    func notices() -> [String] {
        let events = events.withLock { events in
            defer { events = [] }
            return events
        }
        return events.compactMap(notice) + switches.flatMap { $0.takeNotices() } + modeNotice()
    }

    /// Plays the tone of an event of the channel.
    func playTone(of event: ChannelEvent) { tones.play(event, in: session, at: MonotonicClock.now) }

    /// Plays the tone of an event of a session without a channel.
    func playTone(of event: Event) { tones.play(event, in: session, at: MonotonicClock.now) }

    private func notice(of event: PushToTalk.Event) -> String? {
        switch event {
        case .willTimeOut(let time):
            "the microphone closes in \(Self.text(of: time)): let go, or start with a longer --time-out"
        case .closed(.timedOut, _):
            "the microphone was open for \(timeOut.map { Self.text(of: $0) } ?? "too long"), and is closed: let go, and talk again after 2 s"
        case .closed(.revoked(let reason), _): "the microphone is closed" + (reason.map { ": \($0)" } ?? "")
        case .closed(.vanished, .device(let name)): "\(name) is gone: the microphone is closed"
        case .closed(.vanished, .keyboard) where !hasLeftTerminal:
            "space no longer repeats: the microphone is closed; if key repeat is off, use tenfour ptt"
        case .refused(.timedOut, let holder):
            "the microphone stays closed for \(holder): it opens 2 s after all have let go"
        case .refused(.tooManyHolders, let holder): "too many hold the microphone: \(holder) is not heeded"
        case .refused(.permission(let reason), _): "you cannot talk now" + (reason.map { ": \($0)" } ?? "")
        case .available: "the microphone can be opened again"
        case .opened, .closed, .permissionRequested, .permissionReleased: nil
        }
    }

    /// Formats a time as `3 min` or `90 s`.
    private static func text(of time: Duration) -> String {
        let seconds = time / .seconds(1)
        return seconds >= 60 && seconds.truncatingRemainder(dividingBy: 60) == 0
            ? "\(Int(seconds) / 60) min" : "\(decimal(seconds, places: 1, trimming: true)) s"
    }

    /// The terminal may answer after the start, over a slow connection.
    private func modeNotice() -> [String] {
        guard !beganOpen, !space.reportsReleases, keyboard?.reportsReleases == true else { return [] }
        space.reportsReleases = true
        return ["this terminal reports when a key is released: hold space to talk"]
    }

    // MARK: Keys

    /// Space was pressed, repeats, or was released.
    func handleSpace(_ change: TerminalKey.Change) {
        let now = MonotonicClock.now
        hasLeftTerminal = false
        switch change {
        case .press: apply(space.pressed(at: now), at: now)
        case .repeat: apply(space.repeated(at: now), at: now)
        case .release: apply(space.released(), at: now)
        }
    }

    /// The terminal has lost the focus, was closed, or the process is about to be stopped.
    func leaveTerminal(isClosed: Bool = false) {
        hasLeftTerminal = true
        _ = space.lostFocus()
        // A toggle by space stays while another window has the focus.
        if isClosed || space.reportsReleases { lease.vanish(.keyboard) }
    }

    /// Releases the key if its repeats no longer come. The lease does the same, should this call be late.
    func timeElapsed() {
        if space.timeElapsed(at: MonotonicClock.now) == .release { lease.vanish(.keyboard) }
    }

    private func apply(_ action: HeldKey.Action?, at now: Instant) {
        switch action {
        case .toggle: lease.toggle(.keyboard)
        case .release: lease.release(.keyboard, at: now)
        case .press, nil: if let end = space.nextDeadline { lease.press(.keyboard, at: now, until: end) }
        }
    }
}

/// How the microphone of a session is opened.
struct MicrophoneSettings {
    var lease = PushToTalk.Settings()
    /// Whether the talker's voice opens the microphone (VOX).
    var followsVoice = false
    /// The devices that hold the microphone.
    var switches: [DeviceSwitch] = []
    var tones = ToneChoice()
}
