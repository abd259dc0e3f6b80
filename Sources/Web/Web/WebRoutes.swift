internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourHTTPServer
internal import TenfourJSON
internal import TenfourPackets
internal import TenfourQRCode
internal import TenfourRelayServer
internal import TenfourSession

/// Answers the requests of browsers and players for the channels of a gateway.
struct WebRoutes {
    var channels: [WebChannel] = []
    /// The multicast group to which the relay sends a plain channel, by the channel's name.
    var groups: [String: Endpoint] = [:]
    /// The page's address that the operator has set.
    var address: String?
    var page = WebPage.embedded

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let parts = request.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 1 where parts[0].isEmpty: return pageAnswer
        case 1 where parts[0] == "channels.json": return list(for: request)
        case 1 where channel(parts[0], for: request) != nil: return pageAnswer
        case 1: return stream(parts[0], for: request)
        case 2:
            guard let channel = channel(parts[0], for: request) else { return missing }
            switch parts[1] {
            case "events": return .stream(channel.events, contentType: "text/event-stream")
            case "qr.svg": return code(of: channel, for: request)
            default: return missing
            }
        default: return missing
        }
    }

    // MARK: - Who may hear what

    /// The channel of this name, if the request has its token or it needs none.
    private func channel(_ name: some StringProtocol, for request: HTTPRequest) -> WebChannel? {
        channels.first { $0.settings.channel.name == name && mayHear($0, request) }
    }

    private func mayHear(_ channel: WebChannel, _ request: HTTPRequest) -> Bool {
        guard channel.settings.channel.isServed else { return false }
        guard let token = channel.settings.channel.token else { return true }
        return isSame(request.parameter("token") ?? "", as: token)
    }

    /// Compares two texts in a time that tells nothing about them.
    private func isSame(_ text: String, as secret: String) -> Bool {
        let (one, other) = (sha256(Array(text.utf8).span), sha256(Array(secret.utf8).span))
        return (0..<32).reduce(0) { $0 | (one[$1] ^ other[$1]) } == 0
    }

    // MARK: - Answers

    private var missing: HTTPAnswer {
        .text("There is nothing at this address; check its spelling and the token, if any.", status: 404)
    }

    private var pageAnswer: HTTPAnswer {
        .whole(
            page.bytes, contentType: "text/html; charset=utf-8", fields: [("Content-Security-Policy", page.policy)])
    }

    private func list(for request: HTTPRequest) -> HTTPAnswer {
        let list = JSON.list(channels.filter { mayHear($0, request) }.map(\.state.summary))
        return .whole(Array((JSON.object([("channels", list)]).line + "\n").utf8), contentType: "application/json")
    }

    private func stream(_ path: String, for request: HTTPRequest) -> HTTPAnswer {
        guard let dot = path.lastIndex(of: "."), let channel = channel(path[..<dot], for: request) else {
            return missing
        }
        switch path[path.index(after: dot)...] {
        case "ogg" where channel.isPlayable: return .stream(channel.ogg, contentType: "audio/ogg; codecs=opus")
        case "webm" where channel.isPlayable: return .stream(channel.webM, contentType: "audio/webm; codecs=opus")
        case "ogg", "webm":
            return .text(
                "This channel is G.711, which this relay does not serve over HTTP; listen with an RTP player.",
                status: 404)
        case "sdp": return description(of: channel)
        default: return missing
        }
    }

    /// The session description for players that join the channel's multicast group.
    private func description(of channel: WebChannel) -> HTTPAnswer {
        let name = channel.settings.channel.name
        guard let group = groups[name] else { return missing }
        let encoding = channel.format?.encoding ?? .opus
        let format =
            SessionDescription.Format.g711(encoding)
            ?? .opus(payloadType: channel.format?.payloadType ?? RTPDefaults.opusPayloadType)
        var connection = SessionDescription.Connection("\(group.address)")
        if case .v4 = group.address { connection.timeToLive = 1 }
        let description = SessionDescription(
            origin: SessionDescription.Origin(
                sessionID: 1, address: SessionDescription.Connection("\(group.address)")), name: name,
            connection: connection, port: group.port, formats: [format], multiplexesRTCP: false,
            direction: .receiveOnly)
        return .whole(Array(description.text().utf8), contentType: "application/sdp")
    }

    /// The QR code of the link, if the page shows it, or else of the page's address.
    private func code(of channel: WebChannel, for request: HTTPRequest) -> HTTPAnswer {
        let settings = channel.settings.channel
        var text = settings.showsLink ? settings.membership?.link.text() : nil
        if text == nil, let base = address ?? request.host.map({ "http://\($0)/" }) {
            text = base + settings.name + (settings.token.map { "?token=\(escaped($0))" } ?? "")
        }
        guard let text, let symbol = QRSymbol(text) else { return missing }
        return .whole(Array(symbol.svg.utf8), contentType: "image/svg+xml")
    }

    /// Escapes a value of a query (RFC 3986 section 2.1).
    private func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = byte < 128 && (scalar.properties.isAlphabetic || "0123456789-._~".utf8.contains(byte))
            return isPlain ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
