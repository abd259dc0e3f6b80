import Glibc
import Synchronization
import TenfourCommandSupport
import TenfourPackets
import TenfourPlayer
import TenfourRadio
import TenfourSession
import TenfourUV

/// Runs a session in the terminal: signals and keys go in, events, a status line and a report come out.
struct SessionRunner {
    var quiet: Bool
    var verbose: Bool
    /// Whether keys open the microphone and silence the speaker.
    var keys: Bool
    /// Whether how loud it is scrolls by above the status line.
    var levels = false
    /// Where to write how it sounded.
    var report: String?
    /// What plays that which is sent, and obeys the keys then.
    var streamer: Streamer?

    /// In milliseconds.
    private var interval: Int32 { levels ? 100 : 200 }
    /// So many datagrams that are none of ours may come to any port.
    private static let chance = 10
    private static let help = "space opens and closes the microphone, m mutes the speaker, q quits"
    private static let hearingHelp = "m mutes the speaker, q quits"
    private static let sendingHelp = "q quits"
    private static let peopleHelp = "w lists who is here"

    /// `what` says what the session does.
    func run(_ configuration: RadioConfiguration, doing what: (RadioSession) -> String) throws {
        let file = try report.map { path throws(RadioError) in try QualityFile(path: path) }
        let session = try RadioSession(configuration)
        Signals.catchEnd()
        try session.start()
        let keyboard = Self.readsStandardInput(configuration) ? nil : Keyboard()
        say("\(what(session)); \(keyboard == nil ? "Ctrl-C ends it" : "q quits, ? helps")")
        if let own = ownAddress(configuration, session) {
            say(
                "you are talking to yourself: \(own) is this station; write the other station's port, such as :\(own.port + 2)"
            )
        }
        if verbose { for line in session.openings { say(line) } }
        if keys { say(microphone(session, hasKeyboard: keyboard != nil)) }
        var watch = QualityMonitor(keepsSeconds: file != nil, frame: configuration.coding.frame)
        var stops = StopWatch()
        var standing = ChannelStanding(configuration)
        let names = conduct(session, configuration, keyboard, &watch, &standing, &stops)
        let hasQuit = !session.isOver && !Signals.hasEnd
        session.stop()
        let end = Result { try session.wait() }
        if let snapshot = session.snapshot {
            watch.look(at: snapshot)
            let hasWorked = !snapshot.voices.isEmpty || snapshot.sendStream.packetCount > 0
            if !quiet, hasWorked || (try? end.get()) != nil {
                let report = SessionReport(snapshot, names, watch, stopped: stops.total)
                Terminal.say(verbose ? report.text : "tenfour: \(report.line)")
            }
            try file?.write(watch, names, snapshot)
        }
        try end.get()
        if hasQuit, let absence = standing.absence { throw absence }
    }

    /// Returns who was heard.
    private func conduct(
        _ session: RadioSession, _ configuration: RadioConfiguration, _ keyboard: borrowing Keyboard?,
        _ watch: inout QualityMonitor, _ standing: inout ChannelStanding, _ stops: inout StopWatch
    ) -> Names {
        var names = Names()
        var strangers = StrangerNotices(remotes: configuration.rtpSession.remotes)
        var notices = CardNotices(configuration)
        let playsOnCard = if case .card = configuration.output { true } else { false }
        var line = StatusLine(
            levels: levels, timePitch: configuration.playout.timePitch != nil,
            hasPartner: configuration.rtpSession.remotes.count == 1 && configuration.input != nil,
            playsOnCard: playsOnCard)
        var who = WhoIsHere(isChannel: standing.isChannel)
        var hasToldOfOtherKeys = false
        var hasToldOfInputsEnd = false
        while !session.isOver && !Signals.hasEnd {
            let key = keyboard?.key(within: interval) { line.clear() }
            if keyboard == nil { usleep(UInt32(interval) * 1_000) }
            if let key, press(key, session, configuration, standing, &who, &line) { break }
            tellEvents(of: session, &names, &strangers, &watch, &standing, &who, &line)
            if let stop = stops.look() {
                line.clear()
                say("the program was stopped for \(StopWatch.text(stop)): nothing was sent or heard meanwhile")
            }
            if keys, !hasToldOfInputsEnd, session.hasInputEnded {
                hasToldOfInputsEnd = true
                line.clear()
                say("\(inputName(configuration)) has ended: nothing more is sent, and you go on listening")
            }
            guard !quiet || report != nil, let snapshot = session.snapshot else { continue }
            watch.look(at: snapshot)
            for notice in notices.take(snapshot) {
                line.clear()
                say(notice)
            }
            if !hasToldOfOtherKeys, snapshot.voices.isEmpty, snapshot.unopenedCount > Self.chance {
                hasToldOfOtherKeys = true
                line.clear()
                say("what arrives cannot be decrypted: the sender has another key, or none")
            }
            if !quiet, Terminal.showsStatus {
                line.draw(snapshot, session, names, watch, standing, stops, playing: streamer)
            }
        }
        tellEvents(of: session, &names, &strangers, &watch, &standing, &who, &line, isLast: true)
        line.clear()
        return names
    }

    private func inputName(_ configuration: RadioConfiguration) -> String {
        switch configuration.input {
        case .file(let path, _) where path != "-": path
        default: "the input"
        }
    }

    /// Whether standard input is the sound that is sent.
    private static func readsStandardInput(_ configuration: RadioConfiguration) -> Bool {
        if case .file("-", _) = configuration.input { true } else { false }
    }

    /// The remote that is this station's own address; nil where there is none, and in a channel, where all have the
    /// relay's.
    private func ownAddress(_ configuration: RadioConfiguration, _ session: RadioSession) -> Endpoint? {
        if case .channel = configuration.protection { return nil }
        let local = session.localEndpoint
        return configuration.rtpSession.remotes.first { remote in
            remote.port == local.port && !remote.address.isMulticast && remote.address.isLocal
                && (local.address.isUnspecified || local.address == remote.address)
        }
    }

    private func microphone(_ session: RadioSession, hasKeyboard: Bool) -> String {
        switch (session.isMicrophoneOpen, hasKeyboard) {
        case (true, true): "the microphone is open: space closes it"
        case (false, true): "the microphone is closed: space opens it"
        case (true, false): "the microphone is open"
        case (false, false): "the microphone is closed, and there is no keyboard to open it: start with --open"
        }
    }

    /// Returns whether it was the key to quit.
    private func press(
        _ key: Keyboard.Key, _ session: RadioSession, _ configuration: RadioConfiguration,
        _ standing: ChannelStanding, _ who: inout WhoIsHere, _ line: inout StatusLine
    ) -> Bool {
        let isBent = configuration.playout.timePitch != nil
        let hears = configuration.output != nil
        if let streamer, let verb = PlayKeys.verb(for: key) {
            switch verb {
            case .quit: return true
            case .help:
                line.clear()
                say(PlayKeys.help)
                say(Self.peopleHelp)
            default: verb.apply(to: streamer)
            }
            return false
        }
        if isBent, case .character(let character) = key, TimePitchKeys.press(character, session) { return false }
        switch key {
        case .character(" ") where keys: session.isMicrophoneOpen.toggle()
        case .character("m") where hears: session.isSpeakerMuted.toggle()
        case .character("w"):
            line.clear()
            for line in who.lines(session, isReached: standing.isReached) { say(line) }
        case .character("q"), .character("\u{4}"): return true
        case .character("?"):
            line.clear()
            say(isBent ? TimePitchKeys.help : keys ? Self.help : hears ? Self.hearingHelp : Self.sendingHelp)
            say(Self.peopleHelp)
        default: break
        }
        return false
    }

    private func tellEvents(
        of session: RadioSession, _ names: inout Names, _ strangers: inout StrangerNotices,
        _ watch: inout QualityMonitor,
        _ standing: inout ChannelStanding, _ who: inout WhoIsHere, _ line: inout StatusLine, isLast: Bool = false
    ) {
        for change in session.takeCardChanges() {
            line.clear()
            say(change)
        }
        for event in session.takeChannelEvents() {
            let news = standing.memberNews(of: event, verbose: verbose)
            standing.take(event)
            watch.take(event)
            names.take(event)
            let all = (news ?? standing.news(of: event, verbose: verbose)).map { [$0] } ?? who.lines(of: event)
            if !all.isEmpty { line.clear() }
            for news in all { say(news) }
        }
        tell(session.takeEvents(), &names, &strangers, &watch, standing, &line)
        if let summary = strangers.summary(at: .now, isOver: isLast) {
            line.clear()
            say(summary)
        }
    }

    private func tell(
        _ events: [Event], _ names: inout Names, _ strangers: inout StrangerNotices, _ watch: inout QualityMonitor,
        _ standing: ChannelStanding, _ line: inout StatusLine
    ) {
        for event in events {
            watch.take(event)
            let news = news(of: event, names, standing)
            let isShown = news != nil && strangers.mayShow(event, names, at: .now)
            names.take(event)
            guard let news, isShown else { continue }
            line.clear()
            say(news)
        }
    }

    /// In the names that were known before it.
    private func news(of event: Event, _ names: Names, _ standing: ChannelStanding) -> String? {
        switch event {
        // The relay tells who is there, and the line who is heard.
        case .sourceAppeared(let ssrc, _) where standing.tells(of: ssrc):
            verbose || !names.hasHeard(ssrc) ? "hearing \(names[ssrc])" : nil
        case .sourceLeft(let ssrc, _) where standing.tells(of: ssrc):
            verbose ? "\(names[ssrc]) is no longer heard" : nil
        case .sourceAppeared(let ssrc, let endpoint):
            endpoint.address.isUnspecified
                ? "hearing station \(ssrc.digits)"
                : "hearing \(names.name(of: ssrc) ?? "\(endpoint)")" + (verbose ? " (SSRC \(ssrc.digits))" : "")
        case .reporterAppeared(_, let name, let endpoint): "\(endpoint) is \(name ?? "here") and sends no sound yet"
        case .reporterLeft(let ssrc, .some(let reason)):
            "\(names[ssrc]) has left" + (reason.isEmpty ? "" : ": \(reason)")
        case .reporterLeft(let ssrc, .none): "\(names[ssrc]) no longer answers"
        case .sourceNamed(let ssrc, let name): names.isCalled(ssrc, name) ? nil : "\(names[ssrc]) is \(name)"
        case .sourceLeft(let ssrc, .some(let reason)): "\(names[ssrc]) has left" + (reason.isEmpty ? "" : ": \(reason)")
        case .sourceLeft(let ssrc, .none): "\(names[ssrc]) is no longer heard"
        case .sourceLooksEncrypted(let ssrc):
            """
            what \(names[ssrc]) sends looks encrypted, and is not played: if it is SRTP, write srtp:// and give the key with \
            --srtp-key-file
            """
        case .identityChanged(let ssrc):
            verbose ? "another station used our SSRC: it is now \(ssrc.digits)" : nil
        case .partnerMoved(let endpoint): "the other end's name now resolves to \(endpoint): talking with that address"
        case .receiverReported(let ssrc, let view):
            verbose
                ? "\(names[ssrc]) lost \(decimal(view.lossShare * 100, places: 1)) %"
                    + (view.roundTrip.map { ", \(text(of: $0)) round trip" } ?? "")
                : nil
        }
    }

    private func say(_ text: String) { if !quiet { Terminal.say("tenfour: \(text)") } }
}

/// SIGINT, SIGTERM and SIGHUP ask for an end. SIGPIPE is an error of `write` like any other.
enum Signals {
    private static let end = Atomic<Bool>(false)

    static var hasEnd: Bool { end.load(ordering: .relaxed) }

    static func catchEnd() {
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, signalled) }
        signal(SIGPIPE, SIG_IGN)
    }

    fileprivate static func ask() { end.store(true, ordering: .relaxed) }
}

/// The second of its kind ends us at once: the first may wait for a disk or a card.
@c private func signalled(_ number: Int32) {
    Signals.ask()
    signal(number, SIG_DFL)
}
