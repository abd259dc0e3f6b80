import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourOpusCodec
public import TenfourPackets
public import TenfourSession
internal import TenfourUV

extension SessionDescription {
    /// The destination address, if it is neither an address of this machine nor a multicast group. It is nil for these,
    /// and for a name that cannot be looked up. The lookup may block until a name server answers.
    public var addressElsewhere: IPAddress? {
        guard !connection.isMulticast, let endpoints = try? Resolver.resolve(connection.address, port: port),
            !endpoints.contains(where: \.address.isLocal)
        else { return nil }
        return endpoints.first?.address
    }

    /// Creates the description that others need to receive the stream that `configuration` sends.
    public init(of configuration: RadioConfiguration, name: String) {
        let remote = configuration.rtpSession.remotes.first ?? configuration.local
        let address = Connection("\(remote.address)")
        var connection = address
        if address.isMulticast, case .v4 = remote.address {
            connection.timeToLive = configuration.multicast?.timeToLive ?? 1
        }
        var parameters = OpusParameters()
        parameters.usesInBandFEC =
            configuration.coding.settings.inBandFEC
            || configuration.rtpSession.lossProtection.mode == .auto
                && configuration.rtpSessionAsCoded.lossProtection.hasInBandFEC
        parameters.sendsStereo = configuration.coding.channelCount > 1
        let lossProtection = configuration.rtpSession.lossProtection
        let encoding = configuration.coding.encoding
        let mayCopy =
            encoding == .opus && !address.isMulticast && (lossProtection.mode == .auto || lossProtection.mode == .copy)
        let mayAnswer = !address.isMulticast && (lossProtection.mode == .auto || lossProtection.mode == .nack)
        let opus = configuration.rtpSession.payloadType
        var formats = [Format.g711(encoding) ?? .opus(payloadType: opus, parameters)]
        formats[0].payloadType = configuration.rtpSessionAsCoded.payloadType
        if mayCopy { formats.append(.redundant(payloadType: lossProtection.redPayloadType, opus: opus)) }
        let key = configuration.protection.srtpKey
        self.init(
            origin: Origin(sessionID: .random(in: 1...UInt64(UInt32.max)), address: address), name: name,
            connection: connection, port: remote.port, profile: key == nil ? .avp : .savp,
            formats: formats, packetTime: configuration.coding.frame,
            multiplexesRTCP: configuration.rtpSession.controlPort == .multiplexed, direction: .receiveOnly,
            feedback: mayAnswer ? [.nack] : [],
            cryptos: key.map { [Crypto(suite: $0.suite.name, key: $0.base64Text)] } ?? [])
    }

    /// Returns the first key that we support; nil if the stream is not encrypted. A stream with a key counts as
    /// encrypted even if the SDP states the profile RTP/AVP, as some programs do.
    func srtpKey() throws(RadioError) -> SRTPMasterKey? {
        for crypto in cryptos {
            guard let suite = SRTPSuite(name: crypto.suite) else { continue }
            if let key = SRTPMasterKey(suite, base64: crypto.key) { return key }
        }
        guard let first = cryptos.first else {
            guard profile.isSecure else { return nil }
            throw RadioError(
                .unavailable,
                "this SDP is for SRTP (\(profile.rawValue)), but has no key (a=crypto): ask the sender for a description "
                    + "with its key, or for plain RTP (RTP/AVP)")
        }
        guard let suite = cryptos.lazy.compactMap({ SRTPSuite(name: $0.suite) }).first else {
            let known = SRTPSuite.allCases.map(\.name).joined(separator: " or ")
            throw RadioError(
                .unavailable,
                "the SRTP key (a=crypto) of this SDP is for \(String(fromPeer: first.suite, limit: 64)), which tenfour "
                    + "does not support: ask the sender for \(known)")
        }
        throw RadioError(
            .unavailable,
            "the SRTP key (a=crypto) of this SDP does not have the length that \(suite.name) requires: copy the whole "
                + "line from the sender")
    }

    /// Returns the error for a stream that offers no codec that we have, with the names of those that it offers. `verb` is
    /// "plays" or "sends".
    func unsupportedCodecs(verb: String) -> RadioError {
        let codecs = formats.filter { !$0.isAuxiliary }
        var names: [String] = []
        for format in codecs.isEmpty ? formats : codecs where !names.contains(format.codecName) {
            names.append(format.codecName)
        }
        let shown = names.prefix(4).joined(separator: ", ") + (names.count > 4 ? ", …" : "")
        return RadioError(
            .unavailable,
            "this SDP offers \(shown), but neither Opus nor G.711 (PCMU/8000, PCMA/8000), the codecs that tenfour "
                + "\(verb): ask for one of these")
    }
}

extension SessionDescription.Format {
    /// Whether the format only accompanies a codec: events, comfort noise, or the recovery of lost packets.
    fileprivate var isAuxiliary: Bool {
        ["telephone-event", "cn", "red", "rtx", "ulpfec"].contains(encoding?.name.lowercased())
    }

    /// The codec for a person, safe to show.
    fileprivate var codecName: String {
        guard let encoding else { return "payload type \(payloadType) without an a=rtpmap line" }
        return String(fromPeer: encoding.text, limit: 40)
    }
}
