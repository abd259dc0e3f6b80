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
    /// The words that this station showed were guessed at too often. It shows these from now on, and another number.
    case newWords(PairingWords)
    /// What became of the words that were typed here.
    case typedWords(PairingInitiator.Event)
    /// What became of the number at a relay that this station shows, or of the one that was typed here. Never a pass.
    case relay(RelayMeeting.Event)
}
