public import TenfourChannelKeys
public import TenfourPairing
public import TenfourSession

/// The way in which a station pairs through a relay.
public struct RelayedPairing: Sendable {
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
