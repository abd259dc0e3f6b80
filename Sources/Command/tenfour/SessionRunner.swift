import Glibc
import TenfourCommandSupport
import TenfourMetrics
import TenfourPackets
import TenfourPlayer
import TenfourRadio
import TenfourSession
import TenfourUV

/// Runs a session in the terminal: handles signals and key presses, prints events, a status line and a report.
struct SessionRunner {
    var quiet: Bool
    var verbose: Bool
    /// How the microphone is opened; nil if the session has none that keys could open.
    var microphone: MicrophoneSettings?
    /// Whether level meters are shown above the status line.
    var levels = false
    /// The path of the file for the call quality report; nil if none is written.
    var report: String?
    /// The address at which the session serves its metrics; nil if it does not.
    var metrics: Endpoint?
    /// The recording of the session's transmissions; nil if there is none.
    var recording: SessionRecording?
    /// The player whose audio is sent; nil if no player is used. If there is one, the keys control it.
    var streamer: Streamer?

    /// The time between two updates of the status line, in milliseconds.
    private var interval: Int32 { levels ? 100 : 200 }
    /// The number of undecryptable packets above which a notice reports them. Up to this number are ignored, since stray datagrams
    /// may reach any port.
    private static let toleratedCount = 10
    private static let hearingHelp = "m mutes the speaker, q quits"
    private static let sendingHelp = "q quits"
    private static let peopleHelp = "w lists who is here"

    /// Runs the session until it ends or is interrupted. `what` returns a description of the session, which is printed
    /// first.
    func run(_ configuration: RadioConfiguration, doing what: (RadioSession) -> String) throws {
        let file = try report.map { path throws(RadioError) in try QualityFile(path: path) }
        let session = try RadioSession(configuration)
        let server = try metrics.map { address throws(RadioError) in
            try MetricsServer.started(at: address, .station(session, StationMetrics(configuration)))
        }
        defer { server?.stop() }
        Signals.catchEnd()
        try session.start()
        let keyboard =
            Self.readsStandardInput(configuration)
            ? nil : Keyboard(reportsReleases: microphone != nil && !configuration.beginsOpen)
        let talkKeys = try microphone.map { settings throws(RadioError) in
            try MicrophoneKeys(session, settings, keyboard)
        }
        log("\(what(session)); \(keyboard == nil ? "Ctrl-C ends it" : "q quits, ? helps")")
        if let own = ownAddress(configuration, session) {
            log(
                "\(own) is the address of this station itself: write the other station's port, such as :\(own.port + 2)"
            )
        }
        if let recording { log(recording.opening) }
        if let server { log("metrics are at http://\(server.endpoint)/metrics") }
        if verbose { for line in session.openings { log(line) } }
        if let talkKeys { log(talkKeys.opening) }
        if verbose, let notice = talkKeys?.socketNotice { log(notice) }
        var monitor = QualityMonitor(keepsSeconds: file != nil, coding: configuration.coding)
        var stops = ProcessStopMonitor()
        var channelStatus = ChannelStatus(configuration)
        let names = runLoop(session, configuration, keyboard, talkKeys, &monitor, &channelStatus, &stops)
        let hasQuit = !session.isOver && !Signals.hasEnd
        talkKeys?.stop()
        // Ctrl-C must send its signal again while the end waits for a disk or a card.
        keyboard?.close()
        session.stop()
        let end = Result { try session.wait() }
        recording?.close()
        if let snapshot = session.snapshot {
            monitor.update(with: snapshot)
            let hasWorked = !snapshot.talkers.isEmpty || snapshot.sendStream.packetCount > 0
            if !quiet, hasWorked || (try? end.get()) != nil {
                let report = SessionReport(snapshot, names, monitor, stopped: stops.total)
                Terminal.log(verbose ? report.text : "tenfour: \(report.line)")
            }
            try file?.write(monitor, names, snapshot)
        }
        try end.get()
        if hasQuit, let absence = channelStatus.absence { throw absence }
    }

    /// Runs until the session ends or is interrupted. Returns the talkers' names for the report.
    private func runLoop(
        _ session: RadioSession, _ configuration: RadioConfiguration, _ keyboard: Keyboard?,
        _ talkKeys: MicrophoneKeys?, _ monitor: inout QualityMonitor, _ channelStatus: inout ChannelStatus,
        _ stops: inout ProcessStopMonitor
    ) -> TalkerNames {
        var names = TalkerNames()
        var strangers = StrangerNotices(remotes: configuration.rtpSession.remotes)
        var notices = CardNotices(configuration)
        let playsOnCard = if case .card = configuration.output { true } else { false }
        var line = StatusLine(
            levels: levels, timePitch: configuration.playout.timePitch != nil,
            hasPartner: configuration.rtpSession.remotes.count == 1 && configuration.input != nil,
            playsOnCard: playsOnCard)
        var who = WhoIsHere(isChannel: channelStatus.isChannel)
        var hasReportedOtherKeys = false
        var hasReportedInputEnd = false
        while !session.isOver && !Signals.hasEnd {
            let key = nextKey(keyboard, talkKeys, &line)
            if let key, handle(key, session, configuration, talkKeys, channelStatus, &who, &line) { break }
            for notice in talkKeys?.notices() ?? [] {
                line.clear()
                log(notice)
            }
            showEvents(of: session, talkKeys, &names, &strangers, &monitor, &channelStatus, &who, &line)
            recording?.update(names)
            for notice in recording?.takeNotices() ?? [] {
                line.clear()
                log(notice)
            }
            if let stop = stops.poll() {
                line.clear()
                log("the program was stopped for \(ProcessStopMonitor.text(stop)): nothing was sent or heard meanwhile")
            }
            if talkKeys != nil, !hasReportedInputEnd, session.hasInputEnded {
                hasReportedInputEnd = true
                line.clear()
                log("\(inputName(configuration)) has ended: nothing more is sent, listening continues")
            }
            guard !quiet || report != nil, let snapshot = session.snapshot else { continue }
            monitor.update(with: snapshot)
            for notice in notices.newNotices(in: snapshot) {
                line.clear()
                log(notice)
            }
            if !hasReportedOtherKeys, snapshot.talkers.isEmpty, snapshot.unopenedCount > Self.toleratedCount {
                hasReportedOtherKeys = true
                line.clear()
                log("received packets cannot be decrypted: the sender uses another key, or does not encrypt")
            }
            if !quiet, Terminal.showsStatus {
                line.draw(snapshot, session, names, monitor, channelStatus, stops, playing: streamer)
            }
        }
        showEvents(of: session, talkKeys, &names, &strangers, &monitor, &channelStatus, &who, &line, isLast: true)
        line.clear()
        return names
    }

    /// Waits for a key, and gives the microphone what concerns it. Returns nil if nothing else was pressed in the time of
    /// an update.
    private func nextKey(_ keyboard: Keyboard?, _ talkKeys: MicrophoneKeys?, _ line: inout StatusLine) -> TerminalKey? {
        guard let keyboard else {
            usleep(UInt32(interval) * 1_000)
            return nil
        }
        let input = keyboard.input(within: interval) {
            line.clear()
            talkKeys?.leaveTerminal()
        }
        defer { talkKeys?.timeElapsed() }
        switch input {
        case .key(.character(" "), let change) where talkKeys != nil: talkKeys?.handleSpace(change)
        case .key(let key, .press), .key(let key, .repeat): return key
        case .focusLost: talkKeys?.leaveTerminal()
        case .closed: talkKeys?.leaveTerminal(isClosed: true)
        case .key(_, .release), nil: break
        }
        return nil
    }

    private func inputName(_ configuration: RadioConfiguration) -> String {
        switch configuration.input {
        case .file(let path, _) where path != "-": path
        default: "the input"
        }
    }

    /// Whether standard input is the audio to be sent.
    private static func readsStandardInput(_ configuration: RadioConfiguration) -> Bool {
        if case .file("-", _) = configuration.input { true } else { false }
    }

    /// Returns the configured remote that is this session's own address; nil if there is none. Returns nil in a
    /// channel, because all its members have the relay's address.
    private func ownAddress(_ configuration: RadioConfiguration, _ session: RadioSession) -> Endpoint? {
        if case .channel = configuration.protection { return nil }
        let local = session.localEndpoint
        return configuration.rtpSession.remotes.first { remote in
            remote.port == local.port && !remote.address.isMulticast && remote.address.isLocal
                && (local.address.isUnspecified || local.address == remote.address)
        }
    }

    /// Performs the action of the pressed `key`. Returns true for the key that quits.
    private func handle(
        _ key: TerminalKey, _ session: RadioSession, _ configuration: RadioConfiguration, _ talkKeys: MicrophoneKeys?,
        _ channelStatus: ChannelStatus, _ who: inout WhoIsHere, _ line: inout StatusLine
    ) -> Bool {
        let hasTimePitch = configuration.playout.timePitch != nil
        let hears = configuration.output != nil
        if let streamer, let action = PlayKeys.action(for: key) {
            switch action {
            case .quit: return true
            case .help:
                line.clear()
                log(PlayKeys.help)
                log(Self.peopleHelp)
            default: action.apply(to: streamer)
            }
            return false
        }
        if hasTimePitch, case .character(let character) = key, TimePitchKeys.handle(character, session) { return false }
        switch key {
        case .character("m") where hears: session.isSpeakerMuted.toggle()
        case .character("w"):
            line.clear()
            for line in who.lines(session, isReached: channelStatus.isReached) { log(line) }
        case .character("q"), .character("\u{4}"): return true
        case .character("?"):
            line.clear()
            log(hasTimePitch ? TimePitchKeys.help : talkKeys?.help ?? (hears ? Self.hearingHelp : Self.sendingHelp))
            log(Self.peopleHelp)
        default: break
        }
        return false
    }

    private func showEvents(
        of session: RadioSession, _ talkKeys: MicrophoneKeys?, _ names: inout TalkerNames,
        _ strangers: inout StrangerNotices, _ monitor: inout QualityMonitor,
        _ channelStatus: inout ChannelStatus, _ who: inout WhoIsHere, _ line: inout StatusLine, isLast: Bool = false
    ) {
        for change in session.takeCardChanges() {
            line.clear()
            log(change)
        }
        for event in session.takeChannelEvents() {
            talkKeys?.playTone(of: event)
            let notice = channelStatus.memberNotice(for: event, verbose: verbose)
            channelStatus.apply(event)
            monitor.record(event)
            names.apply(event)
            let all =
                (notice ?? channelStatus.notice(for: event, verbose: verbose)).map { [$0] } ?? who.lines(of: event)
            if !all.isEmpty { line.clear() }
            for notice in all { log(notice) }
        }
        let events = session.takeEvents()
        if !channelStatus.isChannel { for event in events { talkKeys?.playTone(of: event) } }
        show(events, &names, &strangers, &monitor, channelStatus, &line)
        if let summary = strangers.summary(at: .now, isOver: isLast) {
            line.clear()
            log(summary)
        }
    }

    private func show(
        _ events: [Event], _ names: inout TalkerNames, _ strangers: inout StrangerNotices,
        _ monitor: inout QualityMonitor,
        _ channelStatus: ChannelStatus, _ line: inout StatusLine
    ) {
        for event in events {
            monitor.record(event)
            let notice = notice(for: event, names, channelStatus)
            let isShown = notice != nil && strangers.mayShow(event, names, at: .now)
            names.apply(event)
            guard let notice, isShown else { continue }
            line.clear()
            log(notice)
        }
    }

    private func log(_ text: String) { if !quiet { Terminal.log("tenfour: \(text)") } }
}
