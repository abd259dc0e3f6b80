internal import TenfourChannelKeys
internal import TenfourRelayCore
internal import TenfourSession

/// Parses the lines about listening over HTTP: `http`, `http-host`, `web`, `web-address` and `web-proxy`.
extension RelayFile {
    /// Parses one of the lines. As a command-line option, `web` has commas between its words.
    mutating func addWeb(_ words: [String], _ place: RelayFileError.Place) throws(RelayFileError) {
        switch words[0] {
        case "http":
            guard words.count == 2, let endpoint = Endpoint(words[1]), !endpoint.address.isMulticast else {
                throw RelayFileError(place, .value("http", .address))
            }
            guard configuration.web.bind == nil else { throw RelayFileError(place, .again("http")) }
            configuration.web.bind = endpoint
            webPlaces["http"] = place
        case "web-address":
            guard words.count == 2, let address = Self.webAddress(words[1]) else {
                throw RelayFileError(
                    place, .message("web-address needs the page's address, such as https://radio.example.org/"))
            }
            guard configuration.web.address == nil else { throw RelayFileError(place, .again("web-address")) }
            configuration.web.address = address
        case "http-host":
            let names = words.dropFirst().map { WebConfiguration.hostName($0) }
            guard !names.isEmpty, !names.contains(nil) else {
                throw RelayFileError(
                    place,
                    .message(
                        "http-host needs host names without a port, such as radio.example.org; IP addresses need no line"
                    ))
            }
            configuration.web.names.formUnion(names.compactMap(\.self))
        case "web-proxy":
            let addresses = words.dropFirst().map { IPAddress($0) }
            guard !addresses.isEmpty, !addresses.contains(nil) else {
                throw RelayFileError(
                    place, .message("web-proxy needs addresses of proxies, such as 127.0.0.1 or 10.0.0.5"))
            }
            configuration.web.proxies.formUnion(addresses.compactMap(\.self))
        default:
            let words = words.count == 2 ? words[1].split(separator: ",").map(String.init) : Array(words.dropFirst())
            try addWebChannel(words, place)
        }
    }

    /// Parses a command-line option that overrides the line `keyword` of the file, `http` or `web-address`.
    public mutating func replace(_ keyword: String, _ value: String) {
        if keyword == "http" { configuration.web.bind = nil } else { configuration.web.address = nil }
        add(keyword, value)
    }

    /// Parses `NAME [link=FILE] [token=FILE] [show-link]`.
    private mutating func addWebChannel(_ words: [String], _ place: RelayFileError.Place) throws(RelayFileError) {
        guard let text = words.first else { throw RelayFileError(place, .message(Self.webForm)) }
        var channel = WebConfiguration.Channel(name: try channelName(text, place))
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts.first, parts.count) {
            case ("link", 2) where channel.linkFile == nil: channel.linkFile = parts[1]
            case ("token", 2) where channel.tokenFile == nil: channel.tokenFile = parts[1]
            case ("show-link", 1) where !channel.showsLink: channel.showsLink = true
            default: throw RelayFileError(place, .message(Self.webForm))
            }
        }
        guard !Self.isWebPath(channel.name) else {
            throw RelayFileError(
                place,
                .message(
                    "the HTTP server needs the address /\(channel.name) for a stream or a list, so this channel cannot be heard over HTTP; give the channel another name"
                ))
        }
        guard webPlaces.updateValue(place, forKey: "web \(channel.name)") == nil else {
            throw RelayFileError(place, .again("web \(channel.name)"))
        }
        configuration.web.channels.append(channel)
    }

    /// Whether a `web` line names the channel.
    func isOnWeb(_ name: String) -> Bool { configuration.web.channels.contains { $0.name == name } }

    /// Completes the channels of `web` lines, and adds the errors that only the whole configuration shows.
    func finishWeb(_ configuration: inout RelayServerConfiguration, _ errors: inout RelayFileErrors) {
        let web = configuration.web
        if web.bind != nil, web.channels.isEmpty, self.errors.isEmpty, let place = webPlaces["http"] {
            errors.note(RelayFileError(place, .message("http needs a channel to serve: add web NAME")))
        }
        for (index, channel) in web.channels.enumerated() {
            guard let place = webPlaces["web \(channel.name)"] else { continue }
            let isEncrypted = configuration.relay.channels.contains { $0.name == channel.name }
            let isPlain = configuration.plain.contains { $0.name == channel.name }
            if !isEncrypted, !isPlain {
                errors.note(RelayFileError(place, .unknownChannel(channel.name)))
            } else if isPlain, channel.linkFile != nil || channel.showsLink {
                errors.note(
                    RelayFileError(
                        place,
                        .message("channel \(channel.name) is not encrypted and has no link; remove link= and show-link")
                    ))
            } else if web.bind == nil, self.errors.isEmpty {
                errors.note(RelayFileError(place, .message("web needs an HTTP server: add http 127.0.0.1:8080")))
            }
            if isEncrypted, channel.linkFile == nil {
                configuration.web.channels[index].linkFile = "\(channel.name).link"
            }
        }
    }

    private static let webForm =
        "write: web NAME, then, if needed, link=FILE, token=FILE, show-link; with --web, commas instead of spaces"

    /// Whether a path of the HTTP server other than a channel's page has this name.
    private static func isWebPath(_ name: String) -> Bool {
        name == "channels.json" || [".ogg", ".webm", ".sdp"].contains { name.hasSuffix($0) }
    }

    /// Returns `text` with a slash at its end if it is an address of HTTP; nil if not.
    private static func webAddress(_ text: String) -> String? {
        guard let scheme = ["http://", "https://"].first(where: text.hasPrefix), text.utf8.count <= 512 else {
            return nil
        }
        let rest = text.dropFirst(scheme.count)
        let (authority, path) = (rest.prefix { $0 != "/" }, rest.drop { $0 != "/" })
        guard (try? RelayHost(String(authority))) != nil,
            path.utf8.allSatisfy({ isPathByte($0) })
        else { return nil }
        return text.hasSuffix("/") ? text : text + "/"
    }

    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~/%".utf8.contains(byte)
        }
    }
}
