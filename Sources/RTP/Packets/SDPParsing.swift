internal import TenfourAudioCore

extension SessionDescription {
    /// The maximum length of a description, in bytes. A longer description is refused without being read.
    public static let maximumByteCount = 65_536
    /// The maximum number of formats of a stream. A stream with more formats is refused.
    public static let maximumFormatCount = 64

    /// Parses a description. Lines end with LF or CR LF. Lines that do not concern the first audio stream are skipped,
    /// and `o=`, `s=` and `t=` may be missing. Total: for any bytes it returns a description, or throws the line and
    /// the reason.
    public init(parsing bytes: Span<UInt8>) throws(SDPError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw SDPError(line: 1, .tooLarge(byteCount: bytes.count))
        }
        var reader = SDPReader()
        var start = 0
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            let next = end + 1
            if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
            try reader.read(bytes.extracting(start..<end))
            start = next
        }
        self = try reader.finish()
    }

    public init(parsing text: String) throws(SDPError) {
        let utf8 = text.utf8
        try self.init(parsing: utf8.span)
    }
}

/// Collects the values of a description, line by line.
private struct SDPReader {
    private var line = 0
    private var section = Section.session
    private var origin = SessionDescription.Origin.unknown
    private var name = ""
    private var session = Level()
    private var audio = Level()
    private var media: Media?

    private enum Section { case session, audio, other }

    /// Values that a description may state for the whole session, and again for a stream.
    private struct Level {
        var connection: SessionDescription.Connection?
        var direction: SessionDescription.Direction?
    }

    /// The values of `m=audio` and the attributes below it.
    private struct Media {
        var line: Int
        var port: UInt16
        var profile: SessionDescription.Profile
        var formats: [SessionDescription.Format]
        var packetTime: Duration?
        var maximumPacketTime: Duration?
        var rtcpPort: UInt16?
        var multiplexesRTCP = false
        var feedback: [SessionDescription.Feedback] = []
        var cryptos: [SessionDescription.Crypto] = []
    }

    mutating func read(_ bytes: Span<UInt8>) throws(SDPError) {
        line += 1
        if line == 1 {
            guard bytes.count == 3, String(fromPeer: bytes) == "v=0" else { throw error(.notADescription) }
        }
        guard bytes.count >= 2, bytes[1] == UInt8(ascii: "="), section != .other || bytes[0] == UInt8(ascii: "m")
        else { return }
        let value = bytes.extracting(2..<bytes.count)
        switch bytes[0] {
        case UInt8(ascii: "o"): try readOrigin(text(of: value))
        case UInt8(ascii: "s"): name = String(fromPeer: value)
        case UInt8(ascii: "c"): try readConnection(text(of: value))
        case UInt8(ascii: "m"): try readMedia(text(of: value))
        case UInt8(ascii: "a"): try readAttribute(text(of: value))
        default: return
        }
    }

    func finish() throws(SDPError) -> SessionDescription {
        guard line > 0 else { throw SDPError(line: 1, .notADescription) }
        guard let media else { throw error(.noAudio) }
        guard let connection = audio.connection ?? session.connection else {
            throw SDPError(line: media.line, .noConnection)
        }
        return SessionDescription(
            origin: origin, name: name, connection: connection, port: media.port, profile: media.profile,
            formats: media.formats, packetTime: media.packetTime, maximumPacketTime: media.maximumPacketTime,
            rtcpPort: media.rtcpPort, multiplexesRTCP: media.multiplexesRTCP,
            direction: audio.direction ?? session.direction ?? .sendAndReceive, feedback: media.feedback,
            cryptos: media.cryptos)
    }

    private func error(_ reason: SDPError.Reason) -> SDPError { SDPError(line: line, reason) }

    private func text(of bytes: Span<UInt8>) -> String {
        String(fromPeer: bytes, limit: SessionDescription.maximumByteCount)
    }

    /// Parses `o=alice 1 2 IN IP4 192.0.2.1`.
    private mutating func readOrigin(_ text: String) throws(SDPError) {
        let fields = text.fields(separator: " ")
        guard fields.count == 6, let sessionID = UInt64(fields[1]), let version = UInt64(fields[2]),
            let address = connection(fields[3...])
        else { throw error(.malformed("the origin (o=)")) }
        origin = .init(
            username: String(fromPeer: String(fields[0])), sessionID: sessionID, version: version, address: address)
    }

    /// Parses `c=IN IP4 239.0.0.1/15`.
    private mutating func readConnection(_ text: String) throws(SDPError) {
        guard let connection = connection(text.fields(separator: " ")[...]) else {
            throw error(.malformed("the address (c=)"))
        }
        if section == .session { session.connection = connection } else { audio.connection = connection }
    }

    /// Parses `IN IP4 239.0.0.1/15/3`. The last number, a count of addresses, is ignored; an IPv6 address has only this
    /// number.
    private func connection(_ fields: ArraySlice<Substring>) -> SessionDescription.Connection? {
        let fields = Array(fields)
        guard fields.count == 3, fields[0] == "IN",
            let family = SessionDescription.Connection.Family(rawValue: String(fields[1]))
        else { return nil }
        let parts = fields[2].fields(separator: "/")
        guard let address = parts.first, address.utf8.count <= 255, address.utf8.allSatisfy(isOfAnAddress) else {
            return nil
        }
        var timeToLive: UInt8?
        if family == .v4, parts.count > 1 {
            guard let told = UInt8(parts[1]) else { return nil }
            timeToLive = told
        }
        return .init(String(address), family: family, timeToLive: timeToLive)
    }

    private func isOfAnAddress(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "%"):
            true
        default: false
        }
    }

    /// Parses `m=audio 5004 RTP/AVP 111 96`; a count of ports may follow the port, as in `5004/2`.
    private mutating func readMedia(_ text: String) throws(SDPError) {
        let fields = text.fields(separator: " ")
        guard media == nil, fields.first == "audio" else {
            section = .other
            return
        }
        section = .audio
        guard fields.count >= 4, let port = fields[1].fields(separator: "/").first.flatMap({ UInt16($0) }) else {
            throw error(.malformed("the audio stream (m=audio)"))
        }
        guard port > 0 else { throw error(.noPort) }
        guard let profile = SessionDescription.Profile(rawValue: fields[2].uppercased()) else {
            throw error(.unsupportedTransport(String(fromPeer: String(fields[2]), limit: 40)))
        }
        guard fields.count - 3 <= SessionDescription.maximumFormatCount else { throw error(.tooManyFormats) }
        media = Media(line: line, port: port, profile: profile, formats: [])
        for field in fields[3...] {
            guard let payloadType = UInt8(field), payloadType < 128 else {
                throw error(.malformed("the payload types (m=audio)"))
            }
            guard index(of: payloadType) == nil else { continue }
            media?.formats.append(
                .init(payloadType: payloadType, encoding: .assigned(to: payloadType)))
        }
    }

    /// Parses an attribute such as `a=rtpmap:111 opus/48000/2` or `a=sendonly`.
    private mutating func readAttribute(_ text: String) throws(SDPError) {
        let colon = text.unicodeScalars.firstIndex(of: ":")
        let name = text[..<(colon ?? text.endIndex)]
        let value = colon.map { text[text.unicodeScalars.index(after: $0)...] } ?? ""
        if let direction = SessionDescription.Direction(rawValue: String(name)) {
            if section == .session { session.direction = direction } else { audio.direction = direction }
        }
        guard section == .audio else { return }
        switch name {
        case "rtpmap": try readEncoding(value)
        case "fmtp": readParameters(value)
        case "ptime":
            let duration = try milliseconds(value, of: "a=ptime")
            media?.packetTime = duration
        case "maxptime":
            let duration = try milliseconds(value, of: "a=maxptime")
            media?.maximumPacketTime = duration
        case "rtcp":
            guard let port = value.fields(separator: " ").first.flatMap({ UInt16($0) }), port > 0 else {
                throw error(.malformed("the port of RTCP (a=rtcp)"))
            }
            media?.rtcpPort = port
        case "rtcp-mux": media?.multiplexesRTCP = true
        case "rtcp-fb": readFeedback(value)
        case "crypto": readCrypto(value)
        default: return
        }
    }

    /// Parses `111 opus/48000/2`. Ignores a payload type that `m=` does not list.
    private mutating func readEncoding(_ value: Substring) throws(SDPError) {
        let fields = value.fields(separator: " ")
        let parts = fields.count == 2 ? fields[1].fields(separator: "/") : []
        guard let payloadType = fields.first.flatMap({ UInt8($0) }), parts.count == 2 || parts.count == 3,
            let clockRate = UInt32(parts[1]), clockRate > 0,
            let channelCount = parts.count == 3 ? UInt8(parts[2]) : 1, channelCount > 0
        else { throw error(.malformed("the encoding (a=rtpmap)")) }
        guard let index = index(of: payloadType) else { return }
        media?.formats[index].encoding = .init(
            name: String(fromPeer: String(parts[0])), clockRate: Int(clockRate), channelCount: Int(channelCount))
    }

    /// Parses `111 minptime=10;useinbandfec=1`. Ignores a payload type that `m=` does not list.
    private mutating func readParameters(_ value: Substring) {
        let scalars = value.unicodeScalars
        guard let space = scalars.firstIndex(of: " "), let payloadType = UInt8(value[..<space]),
            let index = index(of: payloadType)
        else { return }
        let rest = scalars[space...].drop { $0 == " " }
        media?.formats[index].parameters = String(rest)
    }

    /// Parses `* nack` or `111 nack pli`. Ignores an invalid line, and the lines after the first 64, because audio
    /// works without them.
    private mutating func readFeedback(_ value: Substring) {
        let fields = value.fields(separator: " ")
        guard let target = fields.first, fields.count > 1,
            (media?.feedback.count ?? 0) < SessionDescription.maximumFormatCount
        else { return }
        let payloadType = UInt8(target)
        guard target == "*" || payloadType.flatMap(index(of:)) != nil else { return }
        media?.feedback.append(
            .init(payloadType: payloadType, kind: fields[1...].map { String($0) }.joined(separator: " ")))
    }

    /// Parses `1 AES_CM_128_HMAC_SHA1_80 inline:KEY|2^31`. Ignores a line that requires more than a key, and the lines
    /// after the first 64, because another line may be usable. A protected stream without any usable line is not
    /// opened. The key's lifetime is left to the sender.
    private mutating func readCrypto(_ value: Substring) {
        let fields = value.fields(separator: " ")
        guard fields.count == 3, let tag = UInt32(fields[0]), fields[2].lowercased().hasPrefix("inline:"),
            (media?.cryptos.count ?? 0) < SessionDescription.maximumFormatCount
        else { return }
        let parts = fields[2].dropFirst("inline:".count).fields(separator: "|")
        let hasIndex = parts.count > 2 || parts.count == 2 && parts[1].utf8.contains(UInt8(ascii: ":"))
        guard let key = parts.first, !hasIndex, key.utf8.count <= 128, key.utf8.allSatisfy(isOfBase64),
            fields[1].utf8.count <= 64, fields[1].utf8.allSatisfy(isOfAnAddress)
        else { return }
        media?.cryptos.append(.init(tag: tag, suite: String(fields[1]), key: String(key)))
    }

    private func isOfBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    private func index(of payloadType: UInt8) -> Int? {
        media?.formats.firstIndex { $0.payloadType == payloadType }
    }

    /// Parses `20` or `2.5`, in milliseconds: above zero, up to a minute, in steps of a microsecond.
    private func milliseconds(_ value: Substring, of attribute: String) throws(SDPError) -> Duration {
        let parts = value.fields(separator: " ").first.map { $0.fields(separator: ".") } ?? []
        let fraction = parts.count == 2 ? String(parts[1].prefix(3)) : ""
        guard parts.count == 1 || parts.count == 2, let whole = UInt16(parts[0]), whole <= 60_000,
            let thousandths = UInt16(fraction + String(repeating: "0", count: 3 - fraction.count)),
            whole > 0 || thousandths > 0
        else { throw error(.malformed("the duration of a packet (\(attribute))")) }
        return .milliseconds(Int(whole)) + .microseconds(Int(thousandths))
    }
}

extension Substring {
    /// Splits at separators and omits empty parts. Compares Unicode scalars, because a combining mark behind a
    /// separator would hide it from a comparison of characters.
    func fields(separator: Unicode.Scalar) -> [Substring] {
        unicodeScalars.split(separator: separator).map { Substring($0) }
    }
}

extension String {
    func fields(separator: Unicode.Scalar) -> [Substring] { self[...].fields(separator: separator) }
}
