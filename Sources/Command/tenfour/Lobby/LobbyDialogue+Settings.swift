import TenfourChannelKeys
import TenfourCommandSupport
import TenfourPairing
import TenfourSession

extension LobbyDialogue {
    /// The settings of the dialogue.
    struct Settings {
        /// Whether the station waits for pairing, and not for calls.
        var isPairing = false
        /// The words of the other station, if they were an argument; with its number, if it waits at a relay.
        var typedWords: String?
        /// The ways in which a call draws attention.
        var alert = CallAlert.Settings()
        /// The station whose words are typed here, if an argument has named it.
        var partner: PairingPartner?
        var quiet = false
        /// Whether nothing is drawn: all is told in lines.
        var isPlain = false
        /// The service as which the station waits; nil in a terminal.
        var service: RadioService?
        /// Tells programs who calls; nil if none can be there.
        var control: StationControl?
        /// The time at which the station no longer waits; nil if there is none.
        var end: ContinuousClock.Instant?
    }
}

// MARK: Names

extension LobbyDialogue {
    /// Names a caller by the name that it sent, which proves nothing, and by its address.
    static func text(of endpoint: Endpoint, _ name: String) -> String {
        text(ofAddress: "\(endpoint.address)", name)
    }

    static func text(ofAddress address: String, _ name: String) -> String {
        name.isEmpty ? address : "\(name.cut(toColumns: People.nameColumns)) (\(address))"
    }
}
