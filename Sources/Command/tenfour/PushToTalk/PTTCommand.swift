import ArgumentParser
import Glibc
import Synchronization
import TenfourAudioCore
import TenfourClocks
import TenfourCommandSupport
import TenfourJSON
import TenfourPushToTalk
import TenfourRadio

/// `tenfour ptt`: holds the microphone of a running session, for key bindings of a desktop and for scripts.
struct PTTCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ptt", abstract: "Open and close the microphone of a running `tenfour talk`.",
        discussion: """
            tenfour ptt down       # until this command ends, or until ptt up
            tenfour ptt up
            tenfour ptt toggle
            tenfour ptt emergency  # as down, and takes the floor from the talker
            tenfour ptt status

            In sway: bindsym --no-repeat F13 exec tenfour ptt down, and bindsym --release F13 exec tenfour ptt up.
            """,
        subcommands: [PTTDown.self, PTTUp.self, PTTToggle.self, PTTEmergency.self, PTTStatusCommand.self])
}

/// The session that `tenfour ptt` talks to.
struct PTTOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The session's control socket. Default: the newest ptt-PID.sock in $XDG_RUNTIME_DIR/tenfour.",
            valueName: "path"), completion: .file())
    var socket: String?

    /// Connects to the session.
    func connect() throws(RadioError) -> PTTClient {
        do throws(PTTSocketError) {
            if let socket { return try PTTClient(connectingTo: socket) }
            guard let directory = PTTSocketPath.directory else { throw .noSession }
            return try PTTClient.newest(in: directory)
        } catch {
            throw RadioError(.unavailable, sentence(error))
        }
    }

    private func sentence(_ error: PTTSocketError) -> String {
        switch error {
        case .failed(let act, ENOENT), .failed(let act, ECONNREFUSED):
            "\(act): no session uses this socket; start `tenfour talk`, or leave --socket out"
        case .failed(let act, EACCES): "\(act): the session belongs to another user; run this command as that user"
        default: error.description
        }
    }

    /// Sends `request` and returns the answer.
    func ask(_ request: PTTRequest, _ client: inout PTTClient) throws(RadioError) -> JSON {
        let isSent = client.send(request)
        let end = MonotonicClock.now + Self.patience
        while isSent {
            switch client.next(within: 100) {
            case .json(let json) where json.member("event") != nil: continue
            case .nothing where MonotonicClock.now < end: continue
            case .json(let json):
                guard case .text(let refusal)? = json.member("error") else { return json }
                throw RadioError(.unavailable, String(fromPeer: refusal))
            case .nothing: throw RadioError(.unavailable, "the session does not answer: end it and start it again")
            case .end: throw RadioError(.unavailable, "the session has ended: start `tenfour talk` again")
            }
        }
        throw RadioError(.unavailable, "the session has ended: start `tenfour talk` again")
    }

    /// The time to wait for an answer.
    private static let patience = Duration.seconds(5)
}

struct PTTDown: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "down",
        abstract: "Hold the microphone until this command is ended, or until ptt up or ptt toggle.")

    @OptionGroup var options: PTTOptions

    private static let isEnding = Atomic<Bool>(false)

    func run() throws { try Self.hold(.down, options) }

    /// Holds the microphone by `request` until this process is to end, or another one has released it.
    static func hold(_ request: PTTRequest, _ options: PTTOptions) throws {
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, endRequested) }
        var client = try options.connect()
        _ = try options.ask(request, &client)
        while !isEnding.load(ordering: .relaxed) {
            // The wait is short, because a signal may come just before it.
            switch client.next(within: 100) {
            case .json(let json):
                guard case .text(let event)? = json.member("event") else { continue }
                if event == "released" { return }
                if event == "session" { throw RadioError(.unavailable, "the session has ended") }
                if let notice = notice(event, json) { Terminal.log("tenfour: \(notice)") }
            case .nothing: break
            case .end: throw RadioError(.unavailable, "the session has ended")
            }
        }
        _ = try? options.ask(.release, &client)
    }

    private static func notice(_ event: String, _ json: JSON) -> String? {
        let reason: String? = if case .text(let text)? = json.member("reason") { text } else { nil }
        let text: String? = if case .text(let text)? = json.member("text") { String(fromPeer: text) } else { nil }
        return switch (event, reason) {
        case ("warning", _): "the microphone closes soon: let go, or start the session with a longer --time-out"
        case ("closed", "timed-out"): "the time is out: the microphone is closed until all have let go, and 2 s more"
        case ("refused", "timed-out"):
            "the microphone stays closed after the time-out, until all have let go, and 2 s more"
        case ("refused", _): "the microphone cannot be opened" + (text.map { ": \($0)" } ?? "")
        case ("closed", "revoked"): "the microphone is closed" + (text.map { ": \($0)" } ?? "")
        default: nil
        }
    }

    fileprivate static func requestEnd() { isEnding.store(true, ordering: .relaxed) }
}

@c private func endRequested(_: Int32) { PTTDown.requestEnd() }

struct PTTEmergency: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emergency",
        abstract: "As ptt down, and take the floor from the talker, once a minute.",
        discussion: "In a session that does not ask for the floor, this is the same as ptt down.")

    @OptionGroup var options: PTTOptions

    func run() throws { try PTTDown.hold(.emergency, options) }
}

struct PTTUp: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up", abstract: "End all ptt down and ptt toggle.",
        discussion: "Keys, pedals and other devices that are held still hold the microphone.")

    @OptionGroup var options: PTTOptions

    func run() throws {
        var client = try options.connect()
        _ = try options.ask(.up, &client)
    }
}

struct PTTToggle: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle",
        abstract: "Open the microphone, or close it if ptt down or a toggle has opened it.")

    @OptionGroup var options: PTTOptions

    func run() throws {
        var client = try options.connect()
        _ = try options.ask(.toggle, &client)
    }
}

struct PTTStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether the microphone is open, and who holds it.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: PTTOptions

    func run() throws {
        var client = try options.connect()
        let answer = try options.ask(.status, &client)
        Terminal.write((json ? answer.line : line(answer)) + "\n")
    }

    /// Formats the status as `open, held by keyboard, 171 s left`.
    private func line(_ answer: JSON) -> String {
        var parts = [word(answer.member("microphone")) ?? "unknown"]
        if parts == ["none"] {
            let reason = word(answer.member("waiting")) ?? ""
            return "no session runs now" + (reason.isEmpty ? "" : ": \(reason)")
        }
        if case .list(let holders)? = answer.member("holders"), !holders.isEmpty {
            parts.append("held by " + holders.compactMap(word).map(holder).joined(separator: " and "))
        }
        switch answer.member("remaining") {
        case .integer(let seconds)?: parts.append("\(seconds) s left")
        case .decimal(let seconds, _)?: parts.append("\(decimal(seconds, places: 0)) s left")
        default: break
        }
        return parts.joined(separator: ", ")
    }

    /// Returns the name of a holder for people, to whom the number of a process means nothing.
    private func holder(_ word: String) -> String {
        if word == "session" { return "a toggle or --open" }
        return word.hasPrefix("client:") ? "tenfour ptt" : word.hasPrefix("device:") ? String(word.dropFirst(7)) : word
    }

    private func word(_ json: JSON?) -> String? {
        if case .text(let text)? = json { String(fromPeer: text) } else { nil }
    }
}
