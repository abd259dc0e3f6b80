import TenfourSession

/// What a person at a station that waits does at the moment.
enum LobbyMode: Equatable {
    case list
    /// The person calls the station of this name.
    case calling(String)
    /// The station at the endpoint calls.
    case ringing(String, Endpoint)
    case typingAddress(LineInput)
    /// The address that was typed is looked up.
    case lookingUp(String)
    /// The words of a station are typed.
    case typingWords(LineInput, PairingPartner)
    /// Typed words are being checked.
    case pairing(PairingPartner)

    /// The mode before anything was typed.
    var withoutInput: LobbyMode {
        switch self {
        case .typingAddress: .typingAddress(LineInput())
        case .typingWords(_, let partner): .typingWords(LineInput(), partner)
        case .list, .calling, .ringing, .lookingUp, .pairing: self
        }
    }

    /// Whether the line below the list ends with what is being typed.
    var isTyping: Bool {
        switch self {
        case .typingAddress, .typingWords: true
        case .list, .calling, .ringing, .lookingUp, .pairing: false
        }
    }

    /// The words behind what is being typed; empty if nothing is. `isOnly` says that words are typed for one station only,
    /// so that there is no list to go back to.
    func typingHint(isOnly: Bool) -> String {
        switch self {
        case .typingWords where isOnly: "(Esc quits)"
        case .typingAddress, .typingWords: "(Esc goes back)"
        case .list, .calling, .ringing, .lookingUp, .pairing: ""
        }
    }

    /// Whether a sentence was printed when the mode began, so that the prompt need not be printed as a line.
    var isTold: Bool {
        switch self {
        case .calling, .ringing: true
        case .list, .typingAddress, .lookingUp, .typingWords, .pairing: false
        }
    }

    /// The line below the list. `pairing` is the line for a person who pairs; nil for one who takes calls.
    /// `plainCaller` sends plain RTP; nil if nobody does. `chosen` is the station that the arrow keys have chosen.
    func prompt(pairing: String?, plainCaller: String?, chosen: String?, hasKeyboard: Bool) -> String {
        switch self {
        case .list:
            if let plainCaller { return "\(plainCaller) talks by plain RTP: y answers, n ignores it" }
            if let chosen {
                return pairing == nil
                    ? "Enter calls \(chosen), 1-9 calls others, a types an address, q quits"
                    : "press Enter, then type the words that \(chosen) shows; q quits"
            }
            if let pairing { return pairing }
            return hasKeyboard ? "1-9 calls, a types an address, q quits" : "waiting for calls"
        case .calling(let name): return "calling \(name); q cancels"
        case .ringing(let caller, _): return "\(caller) calls: y answers, n declines"
        case .lookingUp(let text): return "looking up \(text); q cancels"
        case .typingAddress(let input): return "address: \(input.text)_"
        case .typingWords(let input, .station(_, let name)): return "words of \(name): \(input.text)_"
        case .typingWords(let input, .atRelay): return "number and words: \(input.text)_"
        case .pairing(.station(_, let name)): return "pairing with \(name); q cancels"
        case .pairing(.atRelay(let name)): return "pairing through \(name); q cancels"
        }
    }

    /// The sentences for the key ?.
    func help(isPairing: Bool) -> [String] {
        switch self {
        case .calling: ["q ends the call"]
        case .ringing: ["y answers, n and q decline"]
        case .lookingUp, .pairing: ["q cancels"]
        case .list, .typingAddress, .typingWords: Self.help(isPairing: isPairing)
        }
    }

    private static func help(isPairing: Bool) -> [String] {
        isPairing
            ? [
                "say the three words to the other person, or type theirs: a digit, or the arrow keys and Enter, choose their station, a types its address",
                "q quits",
            ]
            : [
                "a digit calls the station with this number, as do the arrow keys and Enter; a types an address, q quits",
                "the media of a call is plain RTP, which others on the path can hear; tenfour pair makes a channel",
            ]
    }
}
