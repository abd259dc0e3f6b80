import Glibc
import TenfourCommandSupport
import TenfourPackets
import TenfourPlayer
import TenfourRadio
import TenfourSession
import TenfourUV
import TenfourVoiceProcessing

/// How the state of a session is shown in the terminal.
enum SessionDisplay {
    case statusLine
    /// A status line with level meters above it.
    case levels
    /// Lines about what changes, and nothing that is drawn again.
    case plain
}

/// Runs a session in the terminal: handles signals and key presses, prints events, a status line and a report.
struct SessionRunner {
    var quiet: Bool
    var verbose: Bool
    /// How the microphone is opened; nil if the session has none that keys could open.
    var microphone: MicrophoneSettings?
    var display = SessionDisplay.statusLine
    /// The path of the file for the call quality report; nil if none is written.
    var report: String?
    /// Where the session serves its metrics; nil if it does not.
    var metrics: MetricsSettings?
    /// The recording of the session's transmissions; nil if there is none.
    var recording: SessionRecording?
    /// The user's name for the channel or the other end.
    var channel = ""
    /// Other channels that are heard, too.
    var monitors: [MonitoredChannel] = []
    /// How other programs reach the station; nil if the session has no microphone that they could open.
    var control: StationControl?
    /// The service as which the session runs; nil in a terminal.
    var service: RadioService?
    /// What the key q does, as the first message says it.
    var quitting = "q quits"
    /// The saved link of a channel that gets the other station's name; nil if it has a name.
    var namelessPair: NamelessPair?
    /// The player whose audio is sent; nil if no player is used. If there is one, the keys control it.
    var streamer: Streamer?

    /// Runs the session until it ends or is interrupted. `what` returns a description of the session, which is printed
    /// first.
    func run(_ configuration: RadioConfiguration, doing what: (RadioSession) -> String) throws {
        let file = try report.map { path throws(RadioError) in try QualityFile(path: path) }
        let session = try RadioSession(configuration)
        let channels = try makeChannels(session, configuration)
        let server = control?.metrics ?? metrics.map { StationMetricsServer(at: $0) }
        // A service goes on without metrics, and has said so at its start.
        if service == nil { try server?.open() } else { try? server?.open() }
        server?.begin(session, configuration)
        defer {
            server?.end()
            if control == nil { server?.stop() }
        }
        Signals.catchEnd()
        try session.start()
        try channels.start()
        let keyboard =
            service != nil || Self.readsStandardInput(configuration)
            ? nil : Keyboard(reportsReleases: microphone != nil && !configuration.beginsOpen)
        let talkKeys =
            if let microphone, let control {
                try MicrophoneKeys(channels, microphone, keyboard, control)
            } else { nil as MicrophoneKeys? }
        let keys = service != nil ? "" : keyboard == nil ? "; Ctrl-C ends it" : "; \(quitting), ? shows the keys"
        log(what(session) + keys)
        logOpenings(of: session, configuration, server, talkKeys, channels.volumes.problem)
        let observer = SessionObserver(
            session, configuration, partner: channel, microphone: talkKeys, verbose: verbose, keepsSeconds: file != nil,
            tellsTalkers: display == .plain)
        if let control {
            observer.events = ControlEvents(channel: channel) { control.post($0) }
            channels.tellEvents(to: control)
        }
        let loop = SessionLoop(self, configuration, observer, channels, keyboard, talkKeys)
        loop.run()
        let hasQuit = !session.isOver && !Signals.hasEnd
        talkKeys?.stop()
        // Ctrl-C must send its signal again while the end waits for a disk or a card.
        keyboard?.close()
        channels.stop()
        session.stop()
        let end = Result { try session.wait() }
        for line in channels.close() { log(line, .warning) }
        if !hasQuit, !Signals.hasEnd, (try? end.get()) != nil, let duration = configuration.duration,
            let elapsed = session.snapshot?.elapsed, elapsed >= duration
        {
            log("ended after \(decimal(duration / .seconds(1), places: 1, trimming: true)) s, as --duration says")
        }
        for line in recording?.close() ?? [] { log(line) }
        if let snapshot = session.snapshot {
            _ = observer.update(with: snapshot)
            let hasWorked = !snapshot.talkers.isEmpty || snapshot.sendStream.packetCount > 0
            if !quiet, hasWorked || (try? end.get()) != nil {
                let report = SessionReport(snapshot, observer.names, observer.monitor, stopped: loop.stoppedTime)
                if verbose { Terminal.log(report.text) } else { log(report.line) }
            }
            try file?.write(observer.monitor, observer.names, snapshot)
        }
        try end.get()
        if hasQuit, let absence = observer.channelStatus.absence { throw absence }
    }

    /// Prints what the session uses, and what the user must know about it.
    private func logOpenings(
        of session: RadioSession, _ configuration: RadioConfiguration, _ server: StationMetricsServer?,
        _ talkKeys: MicrophoneKeys?, _ problem: String?
    ) {
        if let own = ownAddress(configuration, session) {
            log(
                "\(own) is the address of this station itself: write the other station's port, such as :\(own.port + 2)"
            )
        }
        for remote in configuration.rtpSession.remotes where !remote.address.hasRoute {
            log(
                "the network cannot be reached: this machine has no way to \(remote.address); check its network and the address",
                .warning)
        }
        if let recording { log(recording.opening) }
        if let problem { log(problem, .warning) }
        if let endpoint = server?.endpoint { log("metrics are at http://\(endpoint)/metrics") }
        if verbose { for line in session.openings { log(line) } }
        if let talkKeys { log(talkKeys.opening) }
        if !monitors.isEmpty, configuration.voice.cancelsEcho, configuration.duplex == .full {
            // Each session cancels the echo of what it plays itself.
            log("the echo of monitored channels is not cancelled: use headphones, or leave --open out", .warning)
        }
        if verbose, service == nil, let notice = control?.notice { log(notice) }
    }

    /// Opens the sessions of all channels. `home` is the first.
    private func makeChannels(
        _ home: RadioSession, _ configuration: RadioConfiguration
    ) throws(RadioError) -> ChannelGroup {
        try ChannelGroup(
            home, configuration, named: channel, monitors, verbose: verbose,
            keepingVolumes: volumeFile(configuration))
    }

    /// The file of the talkers' volumes; nil if no person hears the session, so that no talker is missing in a file or at a
    /// service.
    private func volumeFile(_ configuration: RadioConfiguration) -> KeptVolumeFile? {
        guard service == nil, case .card = configuration.output else { return nil }
        return KeptVolumeFile.usualPath.map { KeptVolumeFile(path: $0) }
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

    /// Prints a line unless the user wants only errors.
    func log(_ text: String, _ level: JournalLevel = .info) {
        if !quiet { Terminal.log("\(level.prefix)tenfour: \(text)") }
    }
}
