import Engine
import Keys
import Radio

extension SessionConfiguration {
    /// Joins the channel that `link` opens.
    static func joining(
        _ link: ChannelLink, as role: Role, station: StationConfiguration, localPort: UInt16
    ) throws(RadioError) -> Self {
        throw RadioError(.unavailable, "channel \(link.name): channels are made, and not joined yet")
    }
}
