public import TenfourChannelKeys
public import TenfourPairing
public import TenfourSession

/// The way in which a station pairs through a relay.
public struct RelayedPairing: Sendable {
    /// News of the relay for the person.
    package enum Event: Hashable, Sendable {
        /// The station waits under this number, which is another one than before, or holds again after `.silent`.
        case number(RendezvousNumber)
        /// The relay gives no number for now. It is asked again every 10 s.
        case noNumber(RendezvousMessage.PlaceRefusal)
        /// The relay has given a number, and no longer answers. The station keeps asking.
        case silent
        /// The relay has no room yet for the run with the station whose number was typed.
        case waits
        /// The station whose number was typed is not met.
        case failed(MeetingFailure)
        /// The relay is of no use: nothing more is asked.
        case useless(RelayFault)
    }

    /// The addresses of the relay, at least one.
    public var relay: [Endpoint]
    /// The words that are shown to the person; nil if only those of another station are typed.
    public var words: PairingWords?
    /// The link for the one who types them, without the pass, which comes from the relay.
    public var link: ChannelLink

    public init(_ relay: [Endpoint], words: PairingWords?, link: ChannelLink) {
        (self.relay, self.words, self.link) = (relay, words, link)
    }

    /// The link with a pass; nil if a link of this kind has none.
    func link(with pass: ChannelPass) -> ChannelLink? {
        try? ChannelLink(relays: link.relays, name: link.name, pass: pass, opening: link.opening)
    }
}
