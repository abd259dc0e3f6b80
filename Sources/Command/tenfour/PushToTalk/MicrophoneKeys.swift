import Glibc
import TenfourAudioCore
import TenfourChannelMember
import TenfourClocks
import TenfourCommandSupport
import TenfourJSON
import TenfourPushToTalk
import TenfourRadio
import TenfourSession

/// The microphone of a session in the terminal: connects what holds it (the terminal's keys, devices, the voice,
/// `tenfour ptt` and signals) with the session, the floor, the tones and the notices. Use it on one thread.
final class MicrophoneKeys {
    private let lease: MicrophoneLease
    private let keyboard: Keyboard?
    private var talkKey: TalkKey
    private var emergencyKey: EmergencyKey
    private let switches: MicrophoneSwitches
    private let control: StationControl
    private let panel: SessionPanel
    private let floor: FloorNotices
    private var tones: SessionTones
    private let microphoneNotices: MicrophoneNotices
    /// Whether the session began with an open microphone.
    private let beganOpen: Bool

    /// The time for which the start waits for the terminal's answer, in milliseconds. A terminal that says nothing at all
    /// delays the start by this time.
    private static let patience: Int32 = 200

    /// Takes over the microphone of the channels, and waits until the terminal has told whether it reports releases. Throws
    /// `.failure` if the system has no thread left.
    init(
        _ channels: ChannelGroup, _ settings: MicrophoneSettings, _ keyboard: Keyboard?, _ control: StationControl
    ) throws(RadioError) {
        let microphone = channels.microphone
        let session = microphone.sessions[0]
        beganOpen = session.isMicrophoneOpen
        self.keyboard = keyboard
        self.control = control
        let notices = MicrophoneNotices(timeOut: settings.lease.timeOut)
        microphoneNotices = notices
        do throws(MicrophoneLeaseError) {
            lease = try MicrophoneLease(settings.lease) { microphone.set(isOpen: $0) }
            lease.observe { notices.record($0) }
            tones = SessionTones(settings.tones, session, lease)
            // A replay would be sent along with the voice.
            lease.observe { if case .opened = $0 { microphone.stopReplays() } }
            // The floor observes the lease before anything is held.
            floor = FloorNotices(
                microphone, lease, settings.tones, asksForFloor: settings.asksForFloor
            ) { [weak session] in session?.play($0) }
            if beganOpen, settings.asksForFloor { microphone.set(isOpen: false) }
            if beganOpen { lease.toggle(.session) }
            switches = try MicrophoneSwitches(lease, settings.switches, followsVoice: settings.followsVoice) {
                microphone.capturedLevel
            }
        } catch {
            throw RadioError(.failure, "cannot start a thread: \(unsafe String(cString: strerror(error.code)))")
        }
        panel = SessionPanel(microphone, channels.volumes)
        emergencyKey = EmergencyKey(lease)
        keyboard?.settle(within: Self.patience)
        talkKey = TalkKey(lease, beganOpen: beganOpen, reportsReleases: keyboard?.reportsReleases == true)
        control.attach(lease, panel)
    }

    /// Closes the microphone.
    func stop() {
        switches.stop()
        lease.stop()
        control.detach()
    }

    /// Closes the microphone for good: what is sent has ended, and the station does not transmit any more.
    func inputEnded() {
        switches.stop()
        lease.stop()
        // The holders did not vanish.
        _ = microphoneNotices.take(hasLeftTerminal: true)
    }

    /// Tells the processes at the control socket a line for the user.
    func tell(_ line: String) { control.post(.object([("event", .text("notice")), ("text", .text(line))])) }

    /// Takes over the state for the processes at the control socket. `talkers` are those of all channels, and `monitored`
    /// has the names of each monitored one.
    func update(
        _ snapshot: RadioSnapshot, _ observer: SessionObserver, _ talkers: [ListedTalker], monitored: [TalkerNames]
    ) {
        panel.update(snapshot, observer, talkers)
        floor.update(observer.names)
        for (index, names) in monitored.enumerated() { floor.update(names, of: index + 1) }
    }

    // MARK: Texts and tones

    /// The notice about the microphone at the start.
    var opening: String {
        MicrophoneOpening(
            beganOpen: beganOpen, followsVoice: switches.followsVoice, hasKeyboard: keyboard != nil,
            reportsReleases: talkKey.isHeldToTalk, devices: switches.deviceNames, isReachable: control.isReachable
        ).text
    }

    var help: String { talkKey.help + ", m mutes the speaker, q quits" }

    /// Returns the notices about the microphone since the last call.
    func notices() -> [String] {
        let mode = keyboard?.reportsReleases == true ? talkKey.confirmReleases() : nil
        return microphoneNotices.take(hasLeftTerminal: talkKey.hasLeftTerminal) + floor.takeLines()
            + switches.takeNotices() + (mode.map { [$0] } ?? [])
    }

    /// Plays the tone of an event of the channel.
    func playTone(of event: ChannelEvent) { tones.play(event) }

    /// Plays the tone of an event of a session without a channel.
    func playTone(of event: Event) { tones.play(event) }

    // MARK: Keys

    /// Space was pressed, repeats, or was released.
    func handleSpace(_ change: TerminalKey.Change) { talkKey.handle(change, at: MonotonicClock.now) }

    /// The key for emergencies was pressed. Returns lines for the user.
    func handleEmergency() -> [String] { emergencyKey.press(at: MonotonicClock.now) }

    /// The terminal has lost the focus, was closed, or the process is about to be stopped.
    func leaveTerminal(isClosed: Bool = false) { talkKey.leaveTerminal(isClosed: isClosed) }

    /// The terminal has the focus again.
    func returnToTerminal() { talkKey.returnToTerminal(at: MonotonicClock.now) }

    /// Releases space if its repeats no longer come.
    func timeElapsed() { talkKey.timeElapsed(at: MonotonicClock.now) }
}
