import Engine
import Glibc
import Radio
import Synchronization

/// Runs a session in the terminal: signals and keys go in, events, a status line and a report come out.
struct Conductor {
    var quiet: Bool
    var verbose: Bool
    /// Whether keys open the microphone and silence the speaker.
    var keys: Bool

    private static let interval: Int32 = 200

    func run(_ configuration: SessionConfiguration, doing what: String) throws {
        let session = try Session(configuration)
        Signals.catchEnd()
        try session.start()
        say("\(what); Ctrl-C ends it")
        if verbose { for line in session.openings { say(line) } }
        if keys { say(session.isMicrophoneOpen ? "the microphone is open: space closes it" : "the microphone is closed: space opens it") }
        conduct(session)
        session.stop()
        try session.wait()
        if let snapshot = session.snapshot, !quiet { Terminal.say(Report(snapshot).text) }
    }

    private func conduct(_ session: Session) {
        let keyboard = keys ? Keyboard() : nil
        var line = StatusLine()
        while !session.isOver && !Signals.hasEnd {
            let key = keyboard?.key(within: Self.interval)
            if keyboard == nil { usleep(UInt32(Self.interval) * 1_000) }
            if let key, press(key, session, &line) { break }
            for event in session.takeEvents() { tell(event, &line) }
            if !quiet, Terminal.showsStatus, let snapshot = session.snapshot {
                line.draw(snapshot, session, keys: keys)
            }
        }
        line.clear()
    }

    /// Returns whether it was the key to quit.
    private func press(_ key: Character, _ session: Session, _ line: inout StatusLine) -> Bool {
        switch key {
        case " ": session.isMicrophoneOpen.toggle()
        case "m": session.isSpeakerMuted.toggle()
        case "q", "\u{4}": return true
        case "?":
            line.clear()
            say("space opens and closes the microphone, m silences the speaker, q quits")
        default: break
        }
        return false
    }

    private func tell(_ event: Event, _ line: inout StatusLine) {
        let news: String
        switch event {
        case .sourceAppeared(let ssrc, let endpoint): news = "\(ssrc.label) is heard from \(endpoint)"
        case .sourceNamed(let ssrc, let name):
            guard verbose else { return }
            news = "\(ssrc.label) is called \(name)"
        case .sourceLeft(let ssrc, .some(let reason)):
            news = "\(ssrc.label) has left" + (reason.isEmpty ? "" : ": \(reason)")
        case .sourceLeft(let ssrc, .none): news = "\(ssrc.label) is not heard any more"
        case .identityChanged(let ssrc): news = "another station had our number; now we are \(ssrc.label)"
        case .receiverReported(let ssrc, let view):
            guard verbose else { return }
            news = "\(ssrc.label) reports \(decimal(view.lossShare * 100, places: 1)) % lost"
                + (view.roundTrip.map { ", \(text(of: $0)) there and back" } ?? "")
        }
        line.clear()
        say(news)
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

@c private func signalled(_ number: Int32) { Signals.ask() }
