import TenfourChannelKeys
import TenfourRadio
import TenfourSession
import TenfourUV

/// A channel for two that pairing has made. The station that showed the words forwards its packets, or the relay through
/// which they have paired.
struct PairedChannel {
    /// The link as it was made or received. It has no host, unless it came through a relay.
    var link: String
    /// The name of the other person's station, safe to display; empty if it is not known.
    var partner: String
    /// Where the link came from; nil at the station that made it, and if it came through a relay.
    var host: Host?
    /// The relay through which the link came, as the person at this end has written it; nil at the station that made it.
    var relay: RelayHost?

    struct Host {
        var endpoint: Endpoint
        /// The host's name, such as `pi.local`; nil if it is not known.
        var name: String?

        init(_ endpoint: Endpoint, name: String?) { (self.endpoint, self.name) = (endpoint, name) }
    }

    private static let longestName = 24
    /// The name for a channel if that of the other station is not known.
    static let nameless = "pair"

    /// Makes a channel at the station that shows the words: at this port of the station itself, or at the relay.
    static func made(by name: String?, port: UInt16, at relay: RelayHost? = nil) throws(RadioError) -> ChannelLink {
        var randomness = CSPRNG()
        do throws(ChannelLinkError) {
            return try ChannelLink(
                relays: [relay].compactMap(\.self), port: relay == nil ? port : ChannelLink.defaultPort,
                name: channelName(of: name ?? ""),
                opening: .secret(Secret(.talk, using: &randomness)))
        } catch {
            throw RadioError(.failure, error.description)
        }
    }

    /// The link with which this station joins the channel: with the address of the other station as its host, unless this
    /// one made it. Looks up no name.
    func ownLink() throws(RadioError) -> ChannelLink { try ownLink(host: host.map { "\($0.endpoint.address)" }) }

    /// The link with the name of the other station as its host, which holds when the address changes; nil if this machine
    /// does not find the station by a name. Blocks until a name server answers.
    func lastingLink() -> ChannelLink? {
        guard let name = host?.reachableName else { return nil }
        return try? ownLink(host: name)
    }

    private func ownLink(host: String?) throws(RadioError) -> ChannelLink {
        do throws(ChannelLinkError) {
            let link = try ChannelLink(link)
            // The other person may have written a name of the relay that is of no use here.
            if let relay {
                return try ChannelLink(relays: [relay], name: link.name, pass: link.pass, opening: link.opening)
            }
            guard let host, link.relays.isEmpty else { return link }
            let relay = try RelayHost(host: host, port: link.port)
            return try ChannelLink(relays: [relay], name: link.name, opening: link.opening)
        } catch {
            throw RadioError(.unavailable, "the other end's link cannot be used: \(error)")
        }
    }

    /// The other station's name, or a similar name that is free. The channel has this name at this end; its own name, from
    /// which its keys are made, is that of the station which has made it.
    var name: String {
        let wanted = Self.channelName(of: partner)
        let names = [wanted] + (2...9).map { "\(wanted)-\($0)" }
        return names.first { SavedLink.path(namedBy: $0) == nil } ?? wanted
    }

    /// Saves the link under `name`, and returns the name.
    func save(_ link: ChannelLink) throws(RadioError) -> String {
        let name = name
        _ = try SavedLink.write(link, as: name)
        return name
    }

    /// The name for a station whose address a person has typed: `bob` for bob.local, and empty for an IP address.
    static func partnerName(typed text: String) -> String {
        guard let host = try? StreamAddress(parsing: text).host, !host.contains(":"),
            !host.allSatisfy({ $0.isNumber || $0 == "." })
        else { return "" }
        return String(host.prefix { $0 != "." })
    }

    /// The letters and digits of a station's name, in small letters, as the name of a channel.
    static func channelName(of name: String) -> String {
        var text = ""
        for letter in name.lowercased() {
            let isPlain = letter.isASCII && (letter.isLetter || letter.isNumber)
            if isPlain { text.append(letter) } else if text.last != "-", !text.isEmpty { text.append("-") }
        }
        text = String(text.prefix(longestName))
        while text.last == "-" { text.removeLast() }
        return text.isEmpty ? nameless : text
    }
}

extension PairedChannel.Host {
    /// The host's name if this machine finds the address by it; nil if not. Blocks until a name server answers.
    fileprivate var reachableName: String? {
        guard let name, let found = try? Resolver.resolve(name, port: endpoint.port) else { return nil }
        return found.contains { $0.address == endpoint.address } ? name : nil
    }
}
