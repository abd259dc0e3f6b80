internal import TenfourAudioCore

/// Collects the values of an audio stream: its `m=audio` line and the lines below it.
struct SDPStream {
    private let line: Int
    private let port: UInt16
    private let profile: SessionDescription.Profile
    private var formats: [SessionDescription.Format] = []
    private var level = SDPLevel()
    private var packetTime: Duration?
    private var maximumPacketTime: Duration?
    private var rtcpPort: UInt16?
    private var multiplexesRTCP = false
    private var feedback: [SessionDescription.Feedback] = []
    private var cryptos: [SessionDescription.Crypto] = []
    /// The error in the first key that cannot be used.
    private var keyError: SDPError?

    /// Parses `audio 5004 RTP/AVP 111 96`; a count of ports may follow the port, as in `5004/2`.
    init(_ text: String, _ line: Int) throws(SDPError) {
        self.line = line
        let fields = text.fields(separator: " ")
        guard fields.count >= 4, let port = fields[1].fields(separator: "/").first.flatMap({ UInt16($0) }) else {
            throw SDPError(line: line, .malformed("the audio stream (m=audio)"))
        }
        guard port > 0 else { throw SDPError(line: line, .noPort) }
        self.port = port
        guard let profile = SessionDescription.Profile(rawValue: fields[2].uppercased()) else {
            // RFC 5764 section 8 and RFC 7850 name these transports `UDP/TLS/RTP/SAVPF`, `TCP/DTLS/RTP/SAVP`, ...
            let isDTLS = fields[2].uppercased().fields(separator: "/").contains { $0 == "TLS" || $0 == "DTLS" }
            let name = String(fromPeer: String(fields[2]), limit: 40)
            throw SDPError(line: line, isDTLS ? .needsDTLS : .unsupportedTransport(name))
        }
        self.profile = profile
        guard fields.count - 3 <= SessionDescription.maximumFormatCount else {
            throw SDPError(line: line, .tooManyFormats)
        }
        for field in fields[3...] {
            guard let payloadType = UInt8(field), payloadType < 128 else {
                throw SDPError(line: line, .malformed("the payload types (m=audio)"))
            }
            guard index(of: payloadType) == nil else { continue }
            formats.append(.init(payloadType: payloadType, encoding: .assigned(to: payloadType)))
        }
    }

    /// Returns the description of this stream. Throws if the stream has no address, or is encrypted and has no key that
    /// can be used.
    func description(
        _ origin: SessionDescription.Origin, _ name: String, _ session: SDPLevel
    ) throws(SDPError) -> SessionDescription {
        guard let connection = level.connection ?? session.connection else {
            throw SDPError(line: line, .noConnection)
        }
        if cryptos.isEmpty, let keyError { throw keyError }
        if cryptos.isEmpty, profile.isSecure, level.hasFingerprint || session.hasFingerprint {
            throw SDPError(line: line, .needsDTLS)
        }
        return SessionDescription(
            origin: origin, name: name, connection: connection, port: port, profile: profile, formats: formats,
            packetTime: packetTime, maximumPacketTime: maximumPacketTime, rtcpPort: rtcpPort,
            multiplexesRTCP: multiplexesRTCP, direction: level.direction ?? session.direction ?? .sendAndReceive,
            feedback: feedback, cryptos: cryptos)
    }

    /// Reads a line below `m=audio`.
    mutating func read(_ content: SDPLine, _ line: Int) throws(SDPError) {
        try level.read(content, line)
        guard content.type == "a" else { return }
        let (name, value) = SDPAttribute.parts(of: content.value)
        switch name {
        case "rtpmap": try readEncoding(value, line)
        case "fmtp": readParameters(value)
        case "ptime": packetTime = try milliseconds(value, of: "a=ptime", line)
        case "maxptime": maximumPacketTime = try milliseconds(value, of: "a=maxptime", line)
        case "rtcp":
            guard let port = value.fields(separator: " ").first.flatMap({ UInt16($0) }), port > 0 else {
                throw SDPError(line: line, .malformed("the port of RTCP (a=rtcp)"))
            }
            rtcpPort = port
        case "rtcp-mux": multiplexesRTCP = true
        case "rtcp-fb": readFeedback(value)
        case "crypto": readCrypto(value, line)
        default: return
        }
    }

    /// Parses `111 opus/48000/2`. Ignores a payload type that `m=` does not list.
    private mutating func readEncoding(_ value: Substring, _ line: Int) throws(SDPError) {
        let fields = value.fields(separator: " ")
        let parts = fields.count == 2 ? fields[1].fields(separator: "/") : []
        guard let payloadType = fields.first.flatMap({ UInt8($0) }), parts.count == 2 || parts.count == 3,
            let clockRate = UInt32(parts[1]), clockRate > 0,
            let channelCount = parts.count == 3 ? UInt8(parts[2]) : 1, channelCount > 0
        else { throw SDPError(line: line, .malformed("the encoding (a=rtpmap)")) }
        guard let index = index(of: payloadType) else { return }
        formats[index].encoding = .init(
            name: String(fromPeer: String(parts[0])), clockRate: Int(clockRate), channelCount: Int(channelCount))
    }

    /// Parses `111 minptime=10;useinbandfec=1`. Ignores a payload type that `m=` does not list.
    private mutating func readParameters(_ value: Substring) {
        let scalars = value.unicodeScalars
        guard let space = scalars.firstIndex(of: " "), let payloadType = UInt8(value[..<space]),
            let index = index(of: payloadType)
        else { return }
        let rest = scalars[space...].drop { $0 == " " }
        formats[index].parameters = String(rest)
    }

    /// Parses `* nack` or `111 nack pli`. Ignores an invalid line, and the lines after the first 64, because audio
    /// works without them.
    private mutating func readFeedback(_ value: Substring) {
        let fields = value.fields(separator: " ")
        guard let target = fields.first, fields.count > 1, feedback.count < SessionDescription.maximumFormatCount
        else { return }
        let payloadType = UInt8(target)
        guard target == "*" || payloadType.flatMap(index(of:)) != nil else { return }
        feedback.append(.init(payloadType: payloadType, kind: fields[1...].map { String($0) }.joined(separator: " ")))
    }

    /// Reads a key. Ignores one that cannot be used, because another may be usable, and the lines after the first 64.
    private mutating func readCrypto(_ value: Substring, _ line: Int) {
        guard cryptos.count < SessionDescription.maximumFormatCount else { return }
        do throws(SDPError) {
            cryptos.append(try SessionDescription.Crypto(parsing: value, line))
        } catch {
            keyError = keyError ?? error
        }
    }

    private func index(of payloadType: UInt8) -> Int? {
        formats.firstIndex { $0.payloadType == payloadType }
    }

    /// Parses `20` or `2.5`, in milliseconds: above zero, up to a minute, in steps of a microsecond.
    private func milliseconds(_ value: Substring, of attribute: String, _ line: Int) throws(SDPError) -> Duration {
        let parts = value.fields(separator: " ").first.map { $0.fields(separator: ".") } ?? []
        let fraction = parts.count == 2 ? String(parts[1].prefix(3)) : ""
        guard parts.count == 1 || parts.count == 2, let whole = UInt16(parts[0]), whole <= 60_000,
            let thousandths = UInt16(fraction + String(repeating: "0", count: 3 - fraction.count)),
            whole > 0 || thousandths > 0
        else { throw SDPError(line: line, .malformed("the duration of a packet (\(attribute))")) }
        return .milliseconds(Int(whole)) + .microseconds(Int(thousandths))
    }
}

extension SessionDescription.Crypto {
    /// Parses `1 AES_CM_128_HMAC_SHA1_80 inline:KEY|2^31`. The key's lifetime is left to the sender. Throws for a line
    /// that requires more than a key. The error never shows a part of the key.
    fileprivate init(parsing value: Substring, _ line: Int) throws(SDPError) {
        let fields = value.fields(separator: " ")
        guard fields.count >= 3, let tag = UInt32(fields[0]), fields[1].utf8.count <= 64,
            fields[1].utf8.allSatisfy(\.isOfAnAddress), fields[2].lowercased().hasPrefix("inline:")
        else { throw SDPError(line: line, .malformed("the SRTP key (a=crypto)")) }
        guard !fields[2].utf8.contains(UInt8(ascii: ";")) else {
            throw SDPError(line: line, .unsupportedKey("several keys in one line"))
        }
        let parts = fields[2].dropFirst("inline:".count).fields(separator: "|")
        guard !parts.dropFirst().contains(where: { $0.utf8.contains(UInt8(ascii: ":")) }) else {
            throw SDPError(line: line, .unsupportedKey("an MKI (master key identifier)"))
        }
        if fields.count > 3 {
            let parameter = fields[3].fields(separator: "=").first.map { String($0).uppercased() } ?? ""
            guard Self.sessionParameters.contains(parameter) else {
                throw SDPError(line: line, .malformed("the SRTP key (a=crypto)"))
            }
            throw SDPError(line: line, .unsupportedKey("the session parameter \(parameter)"))
        }
        guard let key = parts.first, parts.count <= 2, key.utf8.count <= 128, key.utf8.allSatisfy(\.isOfBase64) else {
            throw SDPError(line: line, .malformed("the SRTP key (a=crypto)"))
        }
        self.init(tag: tag, suite: String(fields[1]), key: String(key))
    }

    /// The session parameters of RFC 4568 section 6.3.
    private static let sessionParameters = [
        "KDR", "UNENCRYPTED_SRTP", "UNENCRYPTED_SRTCP", "UNAUTHENTICATED_SRTP", "FEC_ORDER", "FEC_KEY", "WSH",
    ]
}
