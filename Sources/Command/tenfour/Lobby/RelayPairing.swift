import TenfourAudioCore
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourLobby
import TenfourPackets
import TenfourPairing
import TenfourRadio
import TenfourSession

// The part of the dialogue of two people who make a channel through a relay: the number that this station shows, and the one
// that is typed at it.
extension PairingDialogue {
    /// The relay as the person has written it; empty if there is none.
    var relayName: String { relay?.description ?? "" }

    /// The line for a person who does not type.
    var hint: String {
        if partner != nil { return "waiting until the other station has the link; q quits" }
        guard let words = shownWords?.text else { return "Enter types a number and words, q quits" }
        guard let number, !isSilent else { return "waiting for a number from \(relayName); q quits" }
        return "say \"\(number), \(words)\", or type the other station's"
    }

    /// The sentences for the key ? in this mode; nil if they are those of the mode itself.
    func help(_ mode: LobbyMode) -> [String]? {
        guard relay != nil, mode == .list else { return nil }
        let task =
            shownWords == nil
            ? "Enter types the other station's number and words"
            : "say the number and the three words to the other person, or type theirs, and Enter"
        return [task, "q quits"]
    }

    /// Whether the key begins to type the number of another station.
    func beginsTyping(_ key: TerminalKey) -> Bool {
        guard relay != nil, case .character(let character) = key else { return false }
        return "0123456789\n\ra".contains(character) || character == "\r\n"
    }

    /// The relay has answered, or no longer answers. Throws if it is of no use.
    mutating func handle(_ event: RelayedPairing.Event) throws(RadioError) -> Step {
        switch event {
        case .number(let number): return Step(sentence: sentence(about: number))
        case .noNumber(let reason):
            (number, isSilent) = (nil, false)
            return Step(sentence: sentence(about: reason))
        case .silent:
            isSilent = true
            let effect = number == nil ? "waiting for a number" : "until it does, nobody can use the number"
            return Step(sentence: "\(relayName) no longer answers: \(effect)")
        case .waits: return Step(sentence: "\(relayName) is busy with other stations: waiting")
        case .failed(let failure):
            return Step(
                sentence: sentence(about: failure), mode: .typingWords(LineInput(), .atRelay(relayName)))
        case .useless(let fault): throw RadioError(.unavailable, sentence(about: fault))
        }
    }

    /// The step if the person has typed the number that this station shows; nil for another one.
    func stepForOwnNumber(_ typed: RendezvousNumber) -> Step? {
        guard typed == number else { return nil }
        return Step(
            sentence: "\(typed) is the number of this station: type the one that the other station shows",
            mode: .typingWords(LineInput(), .atRelay(relayName)))
    }

    /// The step after a run that has failed, where the sentence for stations nearby does not hold; nil if it does.
    /// Throws if this end has spent its guesses.
    func stepAtRelay(after failure: PairingFailure, guessesLeft: Int) throws(RadioError) -> Step? {
        guard relay != nil else { return nil }
        let mode = LobbyMode.typingWords(LineInput(), .atRelay(relayName))
        switch failure {
        case .noAnswer:
            return Step(
                sentence:
                    "the other station does not answer through \(relayName): is it still waiting? Ask for its number again",
                mode: mode)
        case .crossed:
            return Step(
                sentence:
                    "somebody has typed this station's number at the same time; type again if it was not the other person",
                mode: .list)
        case .wrongWords, .guessedTooOften:
            guard guessesLeft > 0 else {
                throw RadioError(
                    .unavailable,
                    "wrong words three times: start `tenfour pair` again here, with the number and the words that the other station shows"
                )
            }
            guard failure == .guessedTooOften else { return nil }
            return Step(
                sentence:
                    "wrong words: the other station now shows another number and other words; ask for both: \(guessesLeft == 1 ? "one guess is" : "\(guessesLeft) guesses are") left here",
                mode: mode)
        case .void, .badLink: return nil
        }
    }

    private mutating func sentence(about number: RendezvousNumber) -> String {
        defer { (self.number, isSilent) = (number, false) }
        if number == self.number { return "\(relayName) answers again" }
        let words = shownWords?.text ?? ""
        let shown = areWordsLarge ? PairingRequest.large(words, behind: "\(number)") : " \(number), \(words)"
        return self.number == nil
            ? "say this number and these three words to the other person:\(shown)"
            : "the number has changed, and the words have not:\(shown)"
    }

    private func sentence(about reason: RendezvousMessage.PlaceRefusal) -> String {
        switch reason {
        case .full: "\(relayName) has no number left: waiting for one"
        case .tooMany:
            "\(relayName) gives this network no more numbers for now: it has four, or asked too often. This station asks again every 10 s"
        }
    }

    private func sentence(about failure: MeetingFailure) -> String {
        switch failure {
        case .unknownNumber:
            "nobody waits under \(typedNumber?.description ?? "") at \(relayName): ask for the number again"
        case .tooManyNumbers: "too many wrong numbers came from this network: try again in a minute"
        case .tooManyRuns:
            "\(typedNumber?.description ?? "") was tried twice from this network: the other station must show another number; start it again if it does not"
        case .noRoom: "\(relayName) was busy with other stations for two minutes: try again later"
        case .noAnswer: "\(relayName) does not answer: try again"
        }
    }

    private func sentence(about fault: RelayFault) -> String {
        switch fault {
        case .noAnswer:
            "no relay answers at \(relayName): is it running, and does its firewall let UDP port \(relay?.port ?? 0) in?"
        case .refused:
            "nothing listens on port \(relay?.port ?? 0) of \(relay?.name ?? ""): is the relay running, and is this its port?"
        case .pairsNone:
            "\(relayName) does not pair stations: its operator needs a tenfour that can, and \"pair on\" in relay.conf"
        }
    }
}

extension RelayHost {
    /// The greatest number of addresses of a relay that are tried.
    private static let maximumAddressCount = 8

    /// Reads the value of `--relay`.
    init(typed text: String) throws(RadioError) {
        do throws(ChannelLinkError) { try self.init(text) } catch {
            throw RadioError(
                .usage,
                "'\(String(fromPeer: text))' is not a relay's address: write HOST or HOST:PORT, and IPv6 addresses in brackets"
            )
        }
    }

    /// The relay's addresses, at least one. Blocks while its name is looked up.
    func addresses() throws(RadioError) -> [Endpoint] {
        let found = try RadioConfiguration.endpoints(of: StreamAddress(host: name, port: port))
        return Array(found.prefix(Self.maximumAddressCount))
    }
}
