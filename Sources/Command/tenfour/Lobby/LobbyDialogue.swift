import Glibc
import TenfourAudioCore
import TenfourCall
import TenfourClocks
import TenfourCommandSupport
import TenfourDNSSD
import TenfourJSON
import TenfourLobby
import TenfourPairing
import TenfourRadio
import TenfourSession

/// The dialogue with the person at a station that waits: keys and events in, sentences and the list of stations out.
///
/// `run` lasts until a session begins, or the person quits; after a session it goes on. Use it on one thread.
struct LobbyDialogue {
    /// How the dialogue ends.
    enum Outcome {
        /// A session with the station at this endpoint; `hasCall` if a call has agreed on it.
        case session(Endpoint, name: String, hasCall: Bool)
        /// The channel that pairing has made.
        case channel(PairedChannel)
        case quit
    }

    private let station: LobbyStation
    private let settings: Settings
    private var mode = LobbyMode.list
    /// Whether a person can answer.
    private var hasKeyboard = false
    private var choice = StationChoice()
    /// The number of stations of which the arrow keys choose one: those that were drawn last.
    private var choosableCount = Int.max
    private var plainCaller: String?
    /// The one who calls, also while something else is typed.
    private var caller: (text: String, endpoint: Endpoint)?
    /// The time until which q does not quit, because the person may mean a call that the other end has just ended.
    private var quitRest: Instant?
    private var lines = LiveLines()
    private var notices = NearbyNotices()
    /// The calls that were missed since the program began.
    private var missed = MissedCalls()
    /// Keeps them for later; nil without a place for files.
    private var file = MissedCallFile.usualPath.map { MissedCallFile(path: $0) }
    private var alert: CallAlert
    private var announcement: AnnouncementNotices
    private var toldFailure: DiscoveryFailure?
    /// The prompt that was last told in a line.
    private var toldPrompt = ""
    private var pairing: PairingDialogue
    /// The words that were an argument, until they are used.
    private var typedWords: String?
    /// The lookup of the address that was typed last; nil if none runs.
    private var lookup: AddressLookup?

    /// The time between two looks at the station, in milliseconds.
    private static let interval: Int32 = 50
    private static let quitRestTime = Duration.seconds(1)

    init(_ station: LobbyStation, _ settings: Settings) {
        self.station = station
        self.settings = settings
        alert = CallAlert(settings.alert)
        announcement = AnnouncementNotices(name: station.wantedName)
        pairing = PairingDialogue(
            station, hasPartner: settings.partner != nil,
            areWordsLarge: PairingRequest.areWordsLarge(isPlain: settings.isPlain))
        typedWords = settings.typedWords
        if let partner = settings.partner { mode = .typingWords(LineInput(), partner) }
    }

    /// Runs until a session begins or the person quits. Throws if pairing has failed for good. `keyboard`: nil if there is
    /// none.
    mutating func run(_ keyboard: Keyboard?) throws(RadioError) -> Outcome {
        hasKeyboard = keyboard != nil
        if let partner = settings.partner, typedWords != nil { try askWords(of: partner) }
        defer {
            alert.end()
            file?.finish()
            lines.clear()
        }
        while !Signals.hasEnd, settings.end.map({ $0 > .now }) ?? true {
            for event in station.takeEvents() { if let outcome = try handle(event) { return outcome } }
            if let channel = pairing.channel { return .channel(channel) }
            try finishLookup()
            tellDiscovery()
            if let failure = alert.takeFailure() { log(failure) }
            if let problem = file?.update(at: MonotonicClock.now) { log(problem) }
            show()
            alert.update(at: MonotonicClock.now)
            settings.service?.isAlive("waiting for calls")
            guard let keyboard else {
                usleep(UInt32(Self.interval) * 1_000)
                continue
            }
            keyboard.title = isDrawn ? caller.map { "\($0.text) calls" } : nil
            let key = keyboard.key(within: Self.interval) { lines.clear() }
            if let key, let outcome = try handle(key) { return outcome }
        }
        return .quit
    }

    // MARK: Events

    private mutating func handle(_ event: LobbyEvent) throws(RadioError) -> Outcome? {
        switch event {
        case .call(let event): return handle(event)
        case .plainCallerAppeared(let endpoint, let name):
            let caller = Self.text(of: endpoint, name)
            plainCaller = caller
            log("\(caller) talks to this station by plain RTP, without a call: y answers, n ignores it", always: true)
        case .plainCallerLeft(let endpoint, let name):
            plainCaller = nil
            log("\(Self.text(of: endpoint, name)) no longer talks to this station")
        case .shownWords(let event): return apply(try pairing.handle(event))
        case .newWords: return apply(pairing.wordsAreRenewed())
        case .typedWords(let event):
            guard case .pairing(let partner) = mode else { break }
            return apply(try pairing.handle(event, of: partner))
        case .relay(let event): return apply(try pairing.handle(event))
        }
        return nil
    }

    private mutating func handle(_ event: CallEvent) -> Outcome? {
        switch event {
        case .incoming(let endpoint, let name):
            let caller = Self.text(of: endpoint, name)
            self.caller = (caller, endpoint)
            // What is being typed must not answer the call.
            switch mode {
            case .list, .lookingUp:
                lookup = nil
                mode = waitingMode
            case .calling, .ringing, .typingAddress, .typingWords, .pairing: break
            }
            log("\(caller) calls: y answers, n declines", always: true)
            settings.control?.post(
                .object([
                    ("event", .text("calling")), ("name", .text(caller)), ("address", .text("\(endpoint)")),
                ]))
            alert.begin(caller, hasTerminal: hasKeyboard)
        case .missedWhileBusy(let endpoint, let name, let moment):
            // A session lasts long, and its events come afterwards.
            let time = Glibc.time(nil) - Int((MonotonicClock.now - moment) / .seconds(1))
            keepMissedCall(name, endpoint, at: time)
            // Who calls again and again is told of once a minute.
            guard missed.calls.last?.count == 1 else { break }
            log("\(Self.text(of: endpoint, name)) called at \(People.clock(time)), and heard that this station is busy")
        case .rings: log("it rings")
        case .connected(let endpoint, let name):
            leaveCall()
            if case .lookingUp = mode { mode = .list }
            lookup = nil
            return .session(endpoint, name: Self.text(of: endpoint, name), hasCall: true)
        case .plain(let endpoint):
            let name = if case .calling(let name) = mode { name } else { "\(endpoint)" }
            leaveCall()
            log(
                "\(name) does not answer the call: you talk to it by plain RTP, which is heard if a program there plays it"
            )
            return .session(endpoint, name: name, hasCall: false)
        case .ended(let end):
            let name = if case .calling(let name) = mode { "\(name): " } else { "" }
            let caller = caller
            leaveCall()
            quitRest = MonotonicClock.now + Self.quitRestTime
            if case .missed(let name) = end, let caller { keepMissedCall(name, caller.endpoint, at: time(nil)) }
            log(name + "\(end)")
        }
        return nil
    }

    /// Keeps the calls that were missed during a session in which the program ends.
    mutating func keepMissedCalls() {
        for case .call(let event) in station.takeEvents() {
            if case .missedWhileBusy = event { _ = handle(event) }
        }
        file?.finish()
    }

    private mutating func keepMissedCall(_ name: String, _ endpoint: Endpoint, at time: Int) {
        let call = MissedCalls.Call(name: name, address: endpoint.address, time: time)
        missed.record(call)
        file?.record(call)
    }

    private mutating func apply(_ step: PairingDialogue.Step) -> Outcome? {
        // Also with --quiet: it is an error, or what the person has to say to the other one.
        if let sentence = step.sentence { log(sentence, always: true) }
        if let mode = step.mode { self.mode = mode }
        return step.channel.map { .channel($0) }
    }

    /// The call is over, or becomes a session. What is being typed stays.
    private mutating func leaveCall() {
        alert.end()
        caller = nil
        switch mode {
        case .calling, .ringing: mode = .list
        case .list, .typingAddress, .lookingUp, .typingWords, .pairing: break
        }
    }

    /// The mode of a person who neither types nor calls.
    private var waitingMode: LobbyMode { caller.map { .ringing($0.text, $0.endpoint) } ?? .list }

    // MARK: Keys

    private var choosable: NearbyList { station.nearby.first(choosableCount) }

    private mutating func handle(_ key: TerminalKey) throws(RadioError) -> Outcome? {
        switch mode {
        case .typingAddress(var input):
            switch input.append(key) {
            case .none: mode = .typingAddress(input)
            case .cancelled: mode = waitingMode
            case .done(let text):
                mode = waitingMode
                lookUp(typed: text)
            }
        case .typingWords(var input, let partner):
            switch input.append(key) {
            case .none: mode = .typingWords(input, partner)
            case .cancelled:
                if settings.partner != nil { return .quit }
                mode = waitingMode
            case .done(let text): return apply(try pairing.begin(with: partner, typed: text))
            }
        case .list where pairing.beginsTyping(key):
            var input = LineInput()
            if case .character(let digit) = key, digit.isNumber { _ = input.append(key) }
            mode = .typingWords(input, .atRelay(pairing.relayName))
        case .list where choice.move(key, in: choosable): break
        default:
            guard case .character(let character) = key else { return nil }
            return try handle(character)
        }
        return nil
    }

    private mutating func handle(_ character: Character) throws(RadioError) -> Outcome? {
        switch (character, mode) {
        case ("?", _):
            for line in pairing.help(mode) ?? mode.help(isPairing: settings.isPairing) { log(line) }
        case ("q", .calling), ("\u{1B}", .calling):
            station.hangUp()
            leaveCall()
        case ("q", .lookingUp), ("\u{1B}", .lookingUp):
            lookup = nil
            mode = waitingMode
        case ("q", .pairing), ("\u{1B}", .pairing):
            station.cancelPairing()
            mode = .list
        case ("y", .ringing): station.accept()
        case ("1"..."9", .ringing(_, let caller)):
            // Both call each other, and the other one was faster.
            if let digit = character.wholeNumberValue, station.nearby[digit]?.endpoint == caller { station.accept() }
        case ("n", .ringing), ("q", .ringing), ("\u{1B}", .ringing):
            // Also a call that has been accepted, and does not stand yet.
            station.hangUp()
            leaveCall()
        case ("q", _), ("\u{4}", _):
            if quitRest.map({ $0 <= MonotonicClock.now }) ?? true { return .quit }
        case ("y", .list) where plainCaller != nil:
            guard let name = plainCaller, let endpoint = station.takePlainCaller() else { break }
            return .session(endpoint, name: name, hasCall: false)
        case ("n", .list) where plainCaller != nil:
            station.ignorePlainCaller()
            plainCaller = nil
        case ("a", .list): mode = .typingAddress(LineInput())
        case ("\n", .list), ("\r", .list):
            if let chosen = choice.station(in: choosable) { try choose(chosen) }
        case ("\u{1B}", .list): choice.clear()
        case ("1"..."9", .list):
            if let digit = character.wholeNumberValue, let near = station.nearby[digit] { try choose(near) }
        default: break
        }
        return nil
    }

    private mutating func choose(_ near: NearbyStation) throws(RadioError) {
        if settings.isPairing {
            try askWords(of: .station(near.endpoint, name: near.name))
        } else {
            call(near.endpoint, name: near.name, knowsCalls: near.takesCalls)
        }
    }

    /// Asks for the words of a station, or takes those that were an argument.
    private mutating func askWords(of partner: PairingPartner) throws(RadioError) {
        guard let words = typedWords.take() else {
            mode = .typingWords(LineInput(), partner)
            return
        }
        _ = apply(try pairing.begin(with: partner, typed: words))
    }

    private mutating func lookUp(typed text: String) {
        let text = text.trimmingBlanks
        guard !text.isEmpty else { return }
        // One who calls meanwhile is answered first.
        guard caller == nil else { return log("answer or decline the call first") }
        lookup = AddressLookup(text)
        mode = .lookingUp(text)
    }

    private mutating func finishLookup() throws(RadioError) {
        guard let lookup, let outcome = lookup.outcome else { return }
        self.lookup = nil
        mode = waitingMode
        switch outcome {
        case .found(let endpoint) where settings.isPairing:
            try askWords(of: .station(endpoint, name: lookup.text))
        case .found(let endpoint): call(endpoint, name: lookup.text, knowsCalls: false)
        case .failed(let error): log(error.description)
        }
    }

    private mutating func call(_ endpoint: Endpoint, name: String, knowsCalls: Bool) {
        guard station.call(endpoint, knowsCalls: knowsCalls) else {
            return log("answer or decline the call first")
        }
        mode = .calling(name)
        log("calling \(name)")
    }
}

// MARK: Texts

extension LobbyDialogue {
    private mutating func tellDiscovery() {
        if case .unavailable(let failure) = station.discovery, failure != toldFailure {
            toldFailure = failure
            log("\(failure)")
        }
        if let news = announcement.update(station.announcementState, search: station.discovery) { log(news) }
    }

    /// The line below the list for a person who pairs; nil for one who takes calls.
    private var pairingHint: String? {
        if pairing.relay != nil { return pairing.hint }
        guard let words = pairing.shownWords else { return nil }
        guard typedWords == nil else {
            return "a digit chooses the station that shows these words, a types its address, q quits"
        }
        let isAlone = station.nearby.stations.isEmpty
        let way = isAlone ? "a to type the other station's address" : "a digit to type the other words"
        return "say \"\(words.text)\", or press \(way)"
    }

    /// Whether the list is drawn, and not told in lines.
    private var isDrawn: Bool { Terminal.showsStatus && !settings.isPlain }

    /// Whether the desktop has been told what it must be.
    var isSettled: Bool { alert.isSettled }

    private mutating func show() {
        let list = station.nearby
        let chosen = choice.station(in: list.first(choosableCount))
        // A screen reader would read a line again with each letter.
        let prompt = (isDrawn ? mode : mode.withoutInput).prompt(
            pairing: pairingHint, plainCaller: plainCaller, chosen: chosen?.name,
            hasKeyboard: hasKeyboard)
        let typingHint = mode.typingHint(isOnly: settings.partner != nil)
        guard !settings.quiet, isDrawn else {
            for notice in notices.update(list, at: MonotonicClock.now) { log(notice) }
            if hasKeyboard, prompt != toldPrompt, !mode.isTold {
                log(typingHint.isEmpty ? prompt : "\(prompt)  \(typingHint)")
            }
            toldPrompt = prompt
            choosableCount = .max
            return
        }
        let screen = LobbyScreen(
            list: list, chosen: chosen?.id, missed: missed.calls, prompt: prompt, isTyping: mode.isTyping,
            typingHint: typingHint, isBlind: toldFailure != nil || pairing.relay != nil)
        var count = 0
        lines.draw { width, height in
            count = screen.stationCount(width: width, height: height)
            return screen.lines(width: width, height: height)
        }
        choosableCount = count
    }

    /// Prints a sentence. With --quiet, only those that the person must see.
    private mutating func log(_ text: String, always isNecessary: Bool = false) {
        guard !settings.quiet || isNecessary else { return }
        lines.clear()
        Terminal.log("tenfour: \(text)")
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }
}
