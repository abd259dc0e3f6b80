public import TenfourChannelKeys
public import TenfourSession

/// The configuration of listening over HTTP.
public struct WebConfiguration: Sendable, Equatable {
    /// The address and port of the HTTP server; nil if there is none.
    public var bind: Endpoint?
    /// The address of the page as listeners type it, with a slash at the end: `https://radio.example.org/`. If it is
    /// nil, the Host of each request takes its place.
    public var address: String?
    /// The addresses of proxies, which name their clients in X-Forwarded-For.
    public var proxies: Set<IPAddress> = []
    /// The names of this machine that the lines `http-host` and `name` have, in small letters.
    public var names: Set<String> = []
    /// The channels that the gateway receives, to serve them over HTTP or to feed an Icecast server.
    public var channels: [Channel] = []

    /// The names for which the HTTP server and the server of the metrics answer: those that the operator has written, for
    /// this purpose or as the page's address, the relay's name, or the relay in a link.
    public var hostNames: Set<String> {
        let links = channels.compactMap(\.membership).flatMap(\.link.relays)
        return names.union((links + (address.flatMap { Self.host(of: $0) }.map { [$0] } ?? [])).map(\.name))
    }

    /// The host of a URL of HTTP.
    private static func host(of address: String) -> RelayHost? {
        guard let scheme = address.firstRange(of: "://") else { return nil }
        return try? RelayHost(String(address[scheme.upperBound...].prefix { $0 != "/" }))
    }

    /// Returns a host name of `http-host` in small letters, without a dot at its end; nil if `text` is no name, or is an
    /// address, which needs none.
    public static func hostName(_ text: String) -> String? {
        let name = (text.hasSuffix(".") ? String(text.dropLast()) : text).lowercased()
        guard 1...253 ~= name.utf8.count, IPAddress(name) == nil, name.utf8.allSatisfy(isNameByte) else { return nil }
        return name
    }

    /// A channel that can be heard over HTTP or from an Icecast server.
    public struct Channel: Sendable, Equatable {
        public var name: String
        /// Whether the channel can be heard over HTTP.
        public var isServed = true
        /// The file with the settings of an Icecast server that gets the channel's audio; nil if none does.
        public var icecastFile: String?
        /// The file that holds the link of an encrypted channel; nil for a plain channel.
        public var linkFile: String?
        /// The file that holds the token which a request must have; nil if everybody may listen.
        public var tokenFile: String?
        /// Whether the page shows the listen link.
        public var showsLink = false
        /// The keys of an encrypted channel and its listen link, which the caller reads from `linkFile`.
        public var membership: Membership?
        /// The token, which the caller reads from `tokenFile`.
        public var token: String?

        public init(name: String) { self.name = name }
    }

    /// The permission to listen to an encrypted channel.
    public struct Membership: Sendable, Equatable {
        public var keys: ChannelKeys
        /// The listen link. It contains no talk secret, even if it was made from a talk link.
        public var link: ChannelLink

        /// Derives the keys from a talk link or a listen link. If the link contains a passphrase, this takes about
        /// 0.1 s.
        public init(_ link: ChannelLink) throws(PassphraseError) {
            keys = try ChannelKeys(link)
            guard
                let listenLink = try? ChannelLink(
                    relays: link.relays, port: link.port, name: link.name, fingerprint: link.fingerprint,
                    opening: .secret(keys.listenSecret))
            else { preconditionFailure("the parts of a link make a link") }
            self.link = listenLink
        }
    }

    public init() {}
}

private func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
    default: false
    }
}
