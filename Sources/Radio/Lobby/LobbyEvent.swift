package import TenfourCall
package import TenfourPairing
package import TenfourSession

/// What happens at a station that waits for calls.
package enum LobbyEvent: Equatable, Sendable {
    case call(CallEvent)
    /// Plain RTP comes from this endpoint, without an invitation. The name is safe to display, and may be empty.
    case plainCallerAppeared(Endpoint, name: String)
    /// The sender of plain RTP has sent nothing for 15 s, or an RTCP BYE.
    case plainCallerLeft(Endpoint, name: String)
    /// What became of the words that this station shows.
    case shownWords(PairingResponder.Event)
    /// The words that this station showed were guessed at too often. It shows others from now on, and
    /// another number.
    case newWords
    /// What became of the words that were typed here.
    case typedWords(PairingInitiator.Event)
    /// The relay through which this station pairs has answered, or no longer answers.
    case relay(RelayedPairing.Event)
}
