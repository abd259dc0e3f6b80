import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourFloor
import TenfourLobby
import TenfourPackets
import TenfourPairing
import TenfourRadio
import TenfourSession
import TenfourSystem

/// `tenfour talk` without an address, which waits for calls and makes them, one session after the other; and
/// `tenfour pair`.
struct TalkLobby {
    private let talk: Talk
    private let service: RadioService?
    private let control: StationControl
    private let port: UInt16
    private let name: String?
    /// The relay through which this station pairs; nil for one that does not.
    private let relay: RelayHost?
    private var settings = LobbyDialogue.Settings()
    /// Blocks while a relay's name is looked up.
    private let purpose: () throws -> Lobby.Purpose

    /// `service`: nil in a terminal. `pairing`: nil for calls. Throws `.usage` for options that need an address.
    init(_ talk: Talk, _ service: RadioService?, _ control: StationControl, pairing: PairingRequest? = nil) throws {
        self.talk = talk
        self.control = control
        self.service = service
        // A relay answers at any port, and may run on this machine.
        relay = pairing?.relay
        port = talk.port ?? (relay == nil ? RTPDefaults.port : 0)
        name = talk.common.rtpSession().name
        if let input = talk.input, isPipe(input) {
            throw RadioError(.usage, "--input \(input) can be sent only once: write the station to talk with")
        }
        try talk.srtp.checkUnused()
        settings.quiet = talk.common.quiet
        settings.isPlain = talk.common.display == .plain
        settings.service = service
        settings.control = control
        settings.end = talk.common.duration.map { .now + $0.duration }
        let tones = talk.microphone.tones ?? ToneChoice()
        if tones.tones.contains(.ring) {
            settings.alert.card = talk.outputCard
            settings.alert.beeps = true
        }
        if talk.lobby.notify, service == nil { settings.alert.notifier = CallNotifier() }
        guard let pairing else {
            try Self.checkFiles(of: talk)
            let answering = talk.lobby.answering(hasKeyboard: Self.hasKeyboard(service))
            purpose = { .calls(answering) }
            return
        }
        let link = try PairedChannel.made(by: name, port: port, at: relay)
        var generator = SystemRandomNumberGenerator()
        let words = PairingWords(using: &generator)
        settings.typedWords = pairing.words
        settings.isPairing = true
        if let relay {
            if pairing.words != nil { settings.partner = .atRelay("\(relay)") }
            let shownWords = pairing.words == nil ? words : nil
            purpose = { .relayedPairing(RelayedPairing(try relay.addresses(), words: shownWords, link: link)) }
            return
        }
        purpose = { .pairing(words, link) }
        if let host = pairing.host {
            settings.partner = .station(try AddressLookup.endpoint(typed: host), name: host)
        }
    }

    /// Throws if a call would overwrite what the call before it has written.
    private static func checkFiles(of talk: Talk) throws(RadioError) {
        let remedy = "record calls with --record DIRECTORY, or write the station to talk with"
        if let output = talk.output, case .file(let path) = AudioLocation(output), !isDevice(path) {
            throw RadioError(
                .usage, "--output \(String(fromPeer: output)) would be written anew in each call: \(remedy)")
        }
        if let report = talk.common.report {
            throw RadioError(
                .usage, "--report \(String(fromPeer: report)) would be written anew in each call: \(remedy)")
        }
    }

    /// Whether the path is that of a device such as /dev/null, which nothing overwrites.
    private static func isDevice(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
    }

    /// Whether a person can answer calls.
    private static func hasKeyboard(_ service: RadioService?) -> Bool { service == nil && isatty(STDIN_FILENO) == 1 }

    func run() throws {
        guard Self.hasKeyboard(service) || !talk.lobby.autoAnswer.isEmpty else {
            throw RadioError(
                .usage,
                isPairing
                    ? "tenfour pair needs a terminal: run it in one"
                    : "there is no keyboard to answer calls with: write the station to talk with, or --auto-answer")
        }
        try checkSound()
        // A name server may take seconds.
        if let relay {
            let task = settings.partner == nil ? "asking \(relay) for a number" : "pairing through \(relay)"
            Terminal.log("tenfour: \(task)")
        }
        var announced = LobbyStation.Settings(name: name, port: port, try purpose())
        announced.isAnnounced = !talk.lobby.hidden && settings.partner == nil
        announced.version = Tenfour.number
        let station = LobbyStation(announced)
        defer { station.close() }
        try station.open()
        Signals.catchEnd()
        if relay == nil {
            if isPairing { Terminal.log("tenfour: \(opening(station))") } else { log(opening(station)) }
        }
        var dialogue = LobbyDialogue(station, settings)
        defer { leave(station, &dialogue) }
        while try converse(&dialogue, station) {}
    }

    /// Ends a call, and gives back the number at a relay. Waits up to 1 s until both are sent.
    private func leave(_ station: LobbyStation, _ dialogue: inout LobbyDialogue) {
        dialogue.keepMissedCalls()
        station.hangUp()
        station.leaveRelay()
        // These messages are repeated, because they may get lost.
        for _ in 0..<20 where !station.isQuiet || !dialogue.isSettled { usleep(50_000) }
    }

    /// Says that no call can be held without a usable card, which may be plugged in before somebody calls. Throws for a
    /// station that pairs: the other person would sit alone in the new channel.
    private func checkSound() throws {
        do { try talk.checkSound() } catch let error as RadioError {
            guard error.kind == .unavailable, !isPairing else { throw error }
            Terminal.log("tenfour: no call can be made or answered until a sound card works: \(error)")
        }
    }

    /// Waits for a session and holds it. Returns false if the person has quit.
    private func converse(_ dialogue: inout LobbyDialogue, _ station: LobbyStation) throws -> Bool {
        switch try wait(&dialogue) {
        case .quit: return false
        case .channel(let channel):
            leave(station, &dialogue)
            try enter(channel, station)
            return false
        case .session(let endpoint, let name, let hasCall):
            guard station.beginSession(hasCall: hasCall) else { return true }
            do {
                // Who answered arbitrates the floor; without a call, both have called.
                let role = hasCall ? station.hasAnswered.map { $0 ? .answered : .called } : nil as CallFloor.Role?
                try hold(with: endpoint, name, as: role ?? .bothCalled, station)
            } catch let error as RadioError {
                // The next call may go better: a card may be plugged in again.
                Terminal.log("tenfour: \(error)")
            }
            station.endSession()
            // Also at the end of the program: the other end must hear that this one has hung up.
            try station.open()
            guard !Signals.hasEnd else { return false }
            log("the call with \(name) is over")
            return true
        }
    }

    private func wait(_ dialogue: inout LobbyDialogue) throws -> LobbyDialogue.Outcome {
        control.setWaiting(isPairing ? "waiting for pairing" : "waiting for calls")
        let keyboard = service == nil ? Keyboard() : nil
        defer { keyboard?.close() }
        return try dialogue.run(keyboard)
    }

    /// Holds a session of a call, until one of the two hangs up.
    private func hold(
        with endpoint: Endpoint, _ name: String, as role: CallFloor.Role, _ station: LobbyStation
    ) throws {
        var configuration = RadioConfiguration.calling(
            endpoint, as: role, rtpSession: talk.common.rtpSession(payloadType: talk.coding.payloadType),
            localPort: port)
        configuration.signalling = station
        try talk.hold(
            configuration, title: "talking with \(name), not encrypted", channel: name, as: service,
            control, until: settings.end, quitting: "q hangs up"
        ) { session in
            station.whenSessionIsOver { [weak session] in session?.stop() }
        }
    }

    /// Saves a new channel and talks in it.
    private func enter(_ channel: PairedChannel, _ station: LobbyStation) throws {
        station.close()
        let link = try channel.ownLink()
        var name = channel.name
        var nameless: NamelessPair?
        do throws(RadioError) {
            name = try channel.save(link)
            if channel.partner.isEmpty { nameless = NamelessPair(link, savedAs: name) }
            saveName(of: channel, insteadOf: link, as: name)
            log(
                "the channel is saved: tenfour talk \(name) finds it\(channel.host == nil ? "" : ", when the other station is there")"
            )
        } catch {
            Terminal.log("tenfour: the channel cannot be saved: \(error)")
        }
        let configuration = try RadioConfiguration.entering(
            link, as: .talk, rtpSession: talk.common.rtpSession(payloadType: talk.coding.payloadType),
            localPort: talk.port)
        try talk.hold(
            configuration, title: "talking in channel \(name)\(configuration.meetingPlace)", channel: name, as: service,
            control, until: settings.end, renaming: nameless)
    }

    /// Puts the name of the other station in the place of its address in the saved link, as soon as a name server knows it.
    /// The session has the address and does not wait, and neither does the end of the program.
    private func saveName(of channel: PairedChannel, insteadOf link: ChannelLink, as name: String) {
        try? WorkerThread.detached {
            if let lasting = channel.lastingLink() { SavedLink.replace(link, by: lasting, as: name) }
        }
    }

    private var isPairing: Bool { settings.isPairing }

    private func opening(_ station: LobbyStation) -> String {
        if let words = station.shownWords?.text {
            if case .station(_, let name) = settings.partner {
                return settings.typedWords == nil ? "type the three words that \(name) shows" : "pairing with \(name)"
            }
            if settings.typedWords != nil { return "choose the station that shows these words" }
            let areLarge = PairingRequest.areWordsLarge(isPlain: settings.isPlain)
            let shown = areLarge ? PairingRequest.large(words) : " \(words)"
            return "say these three words to the other person:\(shown)"
        }
        let place = talk.lobby.hidden ? ", not announced" : ""
        return "waiting for calls on port \(port)\(name.map { " as \($0)" } ?? "")\(place)\(talk.lobby.manner)"
    }

    private func log(_ text: String) { if !talk.common.quiet { Terminal.log("tenfour: \(text)") } }
}

extension Talk {
    /// The card on which the session will play; nil if it plays on none.
    fileprivate var outputCard: String? {
        guard let output else { return device.name }
        if case .card(let name) = AudioLocation(output) { return name } else { return nil }
    }
}
