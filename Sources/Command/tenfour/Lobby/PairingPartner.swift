import TenfourSession

/// The station whose words a person types.
enum PairingPartner: Equatable {
    /// A station nearby, or one whose address was typed.
    case station(Endpoint, name: String)
    /// The station that waits at the relay of this name, under the number that is typed with the words.
    case atRelay(String)
}
