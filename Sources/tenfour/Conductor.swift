import Console
import Engine
import Glibc
import Keys
import Membership
import RTP
import Radio
import Synchronization

/// Runs a session in the terminal: signals and keys go in, events, a status line and a report come out.
struct Conductor {
    var quiet: Bool
    var verbose: Bool
    /// Whether keys open the microphone and silence the speaker.
    var keys: Bool
    /// Where to write how it sounded.
    var report: String?

    private static let interval: Int32 = 200
    /// So many datagrams that are none of ours may come to any port.
    private static let chance = 10
    private static let help = "space opens and closes the microphone, m silences the speaker, q quits"

    /// `what` says what the session does.
    func run(_ configuration: SessionConfiguration, doing what: (Session) -> String) throws {
        let file = try report.map { path throws(RadioError) in try QualityFile(path: path) }
        let session = try Session(configuration)
        Signals.catchEnd()
        try session.start()
        let keyboard = keys ? Keyboard() : nil
        say("\(what(session)); \(keyboard == nil ? "Ctrl-C ends it" : "q quits, ? helps")")
        if verbose { for line in session.openings { say(line) } }
        if keys { say(microphone(session, hasKeyboard: keyboard != nil)) }
        var watch = LinkWatch(keepsSeconds: file != nil)
        let names = conduct(session, keyboard, &watch)
        session.stop()
        let end = Result { try session.wait() }
        if let snapshot = session.snapshot {
            watch.look(at: snapshot)
            let hasWorked = !snapshot.voices.isEmpty || snapshot.transmission.packetCount > 0
            if !quiet, hasWorked || (try? end.get()) != nil { Terminal.say(Report(snapshot, names, watch).text) }
            try file?.write(watch, names, snapshot)
        }
        try end.get()
    }

    /// Returns who was heard.
    private func conduct(_ session: Session, _ keyboard: borrowing Keyboard?, _ watch: inout LinkWatch) -> Names {
        var names = Names()
        var line = StatusLine()
        var hasToldOfOtherKeys = false
        while !session.isOver && !Signals.hasEnd {
            let key = keyboard?.key(within: Self.interval)
            if keyboard == nil { usleep(UInt32(Self.interval) * 1_000) }
            if let key, press(key, session, &line) { break }
            tellEvents(of: session, &names, &watch, &line)
            guard !quiet || report != nil, let snapshot = session.snapshot else { continue }
            watch.look(at: snapshot)
            if !hasToldOfOtherKeys, snapshot.voices.isEmpty, snapshot.unopenedCount > Self.chance {
                hasToldOfOtherKeys = true
                line.clear()
                say("what comes does not open: who sends it has another key, or none")
            }
            if !quiet, Terminal.showsStatus { line.draw(snapshot, session, names, watch) }
        }
        tellEvents(of: session, &names, &watch, &line)
        line.clear()
        return names
    }

    private func microphone(_ session: Session, hasKeyboard: Bool) -> String {
        switch (session.isMicrophoneOpen, hasKeyboard) {
        case (true, true): "the microphone is open: space closes it"
        case (false, true): "the microphone is closed: space opens it"
        case (true, false): "the microphone is open"
        case (false, false): "the microphone is closed, and there is no keyboard to open it: begin with --open"
        }
    }

    /// Returns whether it was the key to quit.
    private func press(_ key: Character, _ session: Session, _ line: inout StatusLine) -> Bool {
        switch key {
        case " ": session.isMicrophoneOpen.toggle()
        case "m": session.isSpeakerMuted.toggle()
        case "q", "\u{4}": return true
        case "?":
            line.clear()
            say(Self.help)
        default: break
        }
        return false
    }

    private func tellEvents(
        of session: Session, _ names: inout Names, _ watch: inout LinkWatch, _ line: inout StatusLine
    ) {
        for event in session.takeChannelEvents() {
            guard let news = news(of: event) else { continue }
            line.clear()
            say(news)
        }
        for event in session.takeEvents() {
            watch.take(event)
            let news = news(of: event, names)
            names.take(event)
            guard let news else { continue }
            line.clear()
            say(news)
        }
    }

    private func news(of event: ChannelEvent) -> String? {
        switch event {
        case .joined(let role, let endpoint):
            (role == .talk ? "in the channel" : "in the channel, to listen") + (verbose ? ", seen at \(endpoint)" : "")
        case .lost: "nobody answers at the link's address; it is asked again until somebody does"
        case .refused(let reason): reason.sentence
        case .closed(let reason): "the relay has put us out: \(reason.sentence)"
        case .ssrcIsTaken: nil
        case .limited(let limits):
            """
            the relay takes \(limits.packetsPerSecond) packets and \(limits.bitsPerSecond / 1_000) kbit a second of a talker, and \
            what is more is lost: take a longer --frame or a lower --bitrate, or ask its operator for more
            """
        }
    }

    /// In the names that were known before it.
    private func news(of event: Event, _ names: Names) -> String? {
        switch event {
        case .sourceAppeared(let ssrc, let endpoint):
            endpoint.address.isUnspecified
                ? "hearing station \(ssrc.digits)" : "hearing \(endpoint)" + (verbose ? " (SSRC \(ssrc.digits))" : "")
        case .sourceNamed(let ssrc, let name): "\(names[ssrc]) is \(name)"
        case .sourceLeft(let ssrc, .some(let reason)): "\(names[ssrc]) has left" + (reason.isEmpty ? "" : ": \(reason)")
        case .sourceLeft(let ssrc, .none): "\(names[ssrc]) is not heard any more"
        case .identityChanged(let ssrc):
            verbose ? "another station had our SSRC: from now on it is \(ssrc.digits)" : nil
        case .receiverReported(let ssrc, let view):
            verbose
                ? "\(names[ssrc]) lost \(decimal(view.lossShare * 100, places: 1)) %"
                    + (view.roundTrip.map { ", \(text(of: $0)) there and back" } ?? "")
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
