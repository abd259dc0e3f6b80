public import TenfourChannelKeys
public import TenfourRadio

/// What a person wants to talk with.
public enum Subject: Sendable {
    /// Nobody in particular: only this machine and its network are examined.
    case none
    /// The station at an address that a person typed.
    case station(StreamAddress)
    /// A channel, with the keys of its link.
    case channel(ChannelLink, ChannelKeys)

    /// The hosts to look up: that of the station, or those of the channel's relays.
    var hosts: [StreamAddress] {
        switch self {
        case .none: []
        case .station(let address): [address]
        case .channel(let link, _): link.relays.map { StreamAddress(host: $0.name, port: $0.port) }
        }
    }

    /// Whether the session sends from a port of its own choice to a relay, so that no port has to be open.
    var usesRelay: Bool { if case .channel(let link, _) = self { !link.relays.isEmpty } else { false } }
}
