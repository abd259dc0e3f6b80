import Glibc
import TenfourCommandSupport
import TenfourFloor
import TenfourRadio
import TenfourSession

/// What happens in the terminal while a session runs: keys, lines and the status line. Use it on one thread.
final class SessionLoop {
    private let runner: SessionRunner
    private let observer: SessionObserver
    private let channels: ChannelGroup
    private let keyboard: Keyboard?
    private let talkKeys: MicrophoneKeys?
    private var keys: SessionKeyActions
    private var line: StatusLine
    private var stops = ProcessStopMonitor()
    /// Whether the key that shows the state was pressed and the state has not been shown yet.
    private var isStateWanted = false
    /// The notice of a key's change, which waits until a line reports it or the status line shows it.
    private var change: (line: String, role: StatusFields.Role)?
    /// The waveform of the audio that is sent; nil if no player sends it.
    private let panel: WaveformPanel?

    private var session: RadioSession { observer.session }

    /// The time between two updates of the status line, in milliseconds.
    private var interval: Int32 { runner.display == .levels ? 100 : 200 }

    init(
        _ runner: SessionRunner, _ configuration: RadioConfiguration, _ observer: SessionObserver,
        _ channels: ChannelGroup, _ keyboard: Keyboard?, _ talkKeys: MicrophoneKeys?
    ) {
        self.runner = runner
        self.observer = observer
        observer.namelessPair = runner.namelessPair
        self.channels = channels
        self.keyboard = keyboard
        self.talkKeys = talkKeys
        keys = SessionKeyActions(configuration, observer, channels, talkKeys, runner.streamer, runner.display)
        panel =
            runner.quiet || runner.display == .plain ? nil : runner.streamer.map { WaveformPanel($0, hasToggle: false) }
        let playsOnCard = if case .card = configuration.output { true } else { false }
        line = StatusLine(
            levels: runner.display == .levels, timePitch: configuration.playout.timePitch != nil,
            hasPartner: configuration.rtpSession.remotes.count == 1 && configuration.input != nil,
            hasAnswered: configuration.signalling != nil && configuration.callRole != .bothCalled,
            playsOnCard: playsOnCard, panel: panel)
    }

    /// The time for which the program was stopped, by Ctrl-Z or a signal.
    var stoppedTime: Duration { stops.total }

    /// Runs until the session ends or is interrupted.
    func run() {
        while !session.isOver && !Signals.hasEnd {
            if let key = nextKey() {
                switch keys.action(of: key) {
                case .quit: return finish()
                case .show(let lines): show(lines)
                case .changed(let line, let role): change = (line, role)
                case .showState: isStateWanted = true
                }
            }
            showState()
            show(talkKeys?.notices() ?? [])
            showEvents()
            if let stop = stops.poll() {
                show([
                    "the program was stopped for \(ProcessStopMonitor.text(stop)): nothing was sent or heard meanwhile"
                ])
            }
            runner.service?.isAlive(observer.channelStatus.isReached ? "running" : "not in the channel")
            if let snapshot = session.snapshot { update(with: snapshot) }
        }
        finish()
    }

    /// Takes over the state of the session, and shows it.
    func update(with snapshot: RadioSnapshot) {
        let talkers = channels.talkers(observer)
        channels.volumes.follow(talkers)
        guard !runner.quiet || runner.report != nil || talkKeys != nil else { return }
        show(observer.update(with: snapshot), .warning)
        talkKeys?.update(snapshot, observer, talkers, monitored: channels.monitoredNames)
        let hasStatus = !runner.quiet && runner.display != .plain && Terminal.showsStatus
        if hasStatus { draw(snapshot) }
        if let change, !hasStatus || !line.hasRoom(for: change.role) {
            show([change.line])
            if hasStatus { draw(snapshot) }
        }
        change = nil
    }

    private func draw(_ snapshot: RadioSnapshot) {
        line.draw(snapshot, observer, stops, keys.volumes, answering: channels.answered, playing: runner.streamer)
    }

    /// Shows the state as a line of text if its key was pressed. A key that comes before the session has begun waits.
    private func showState() {
        guard isStateWanted, let snapshot = session.snapshot else { return }
        isStateWanted = false
        show([
            line.text(snapshot, observer, stops, keys.volumes, answering: channels.answered, playing: runner.streamer)
        ])
    }

    private func finish() {
        showEvents(isLast: true)
        line.clear()
    }

    private func showEvents(isLast: Bool = false) {
        show(observer.takeLines(isLast: isLast))
        show(channels.takeLines(isLast: isLast))
        runner.recording?.update(observer.names)
        show(runner.recording?.takeNotices() ?? [])
    }

    private func show(_ lines: [String], _ level: JournalLevel = .info) {
        guard !lines.isEmpty else { return }
        line.clear()
        for line in lines {
            runner.log(line, level)
            talkKeys?.tell(line)
        }
    }

    /// Waits for a key, and gives the microphone what concerns it. Returns nil if nothing else was pressed in the time of
    /// an update.
    private func nextKey() -> TerminalKey? {
        guard let keyboard else {
            usleep(UInt32(interval) * 1_000)
            return nil
        }
        keyboard.reportsMouse = panel?.isShown == true
        let input = keyboard.input(within: interval) {
            line.clear()
            talkKeys?.leaveTerminal()
        }
        defer { talkKeys?.timeElapsed() }
        switch input.flatMap({ panel?.handle($0, keyboard) }) {
        case .done: return nil
        case .told(let sentence):
            show([sentence])
            return nil
        case .passed, nil: break
        }
        switch input {
        case .key(.character(" "), let change) where talkKeys != nil: talkKeys?.handleSpace(change)
        case .key(let key, .press), .key(let key, .repeat): return key
        case .focusLost: talkKeys?.leaveTerminal()
        case .focusGained: talkKeys?.returnToTerminal()
        case .closed: talkKeys?.leaveTerminal(isClosed: true)
        case .key(_, .release), .mouse, .cursor, nil: break
        }
        return nil
    }
}
