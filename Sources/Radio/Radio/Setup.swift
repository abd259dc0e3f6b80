public import TenfourAudioCore
public import TenfourChannelKeys
internal import TenfourChannelMember
public import TenfourPackets
public import TenfourSession
internal import TenfourUV

/// Creates configurations from addresses that a user types. Names are looked up, which may block until a name server
/// answers.
///
/// All functions throw `.usage` for invalid arguments, and `.unavailable` for a host that is not found.
extension RadioConfiguration {
    /// Creates a configuration that sends to `address`.
    public static func sending(
        to address: StreamAddress, rtpSession: RTPSessionConfiguration = .init(), localPort: UInt16 = 0,
        multicastInterface: String? = nil, timeToLive: UInt8 = 1
    ) throws(RadioError) -> Self {
        guard !address.host.isEmpty else {
            throw RadioError(
                .usage, "the address to send to is missing: write rtp://HOST:PORT, such as rtp://10.0.0.7:5004")
        }
        let remote = try endpoint(of: address)
        var rtpSession = rtpSession
        rtpSession.remotes = [remote]
        rtpSession.accepted = remote.address.isMulticast ? .anyone : .only([remote.address])
        var configuration = Self(
            local: Endpoint(remote.address.unspecified, port: localPort), rtpSession: rtpSession)
        if remote.address.isMulticast {
            configuration.multicast = Multicast(group: nil, interface: multicastInterface, timeToLive: timeToLive)
        }
        return configuration
    }

    /// Creates a configuration that receives on `address`: an address of this machine, a multicast group to join, or
    /// any address of this machine (`rtp://:5004`).
    public static func receiving(
        on address: StreamAddress, rtpSession: RTPSessionConfiguration = .init(), multicastInterface: String? = nil
    ) throws(RadioError) -> Self {
        let local =
            address.host.isEmpty ? Endpoint(.anyV6, port: address.port) : try endpoint(of: address)
        var configuration = Self(local: local, rtpSession: rtpSession)
        configuration.rtpSession.acceptStaticPayloadTypes()
        if local.address.isMulticast {
            configuration.rtpSession.hearsGroup = true
            configuration.multicast = Multicast(group: local.address, interface: multicastInterface)
        }
        return configuration
    }

    /// Creates a configuration that talks with the peer at `address` and plays no other sender.
    public static func talking(
        with address: StreamAddress, rtpSession: RTPSessionConfiguration = .init(), localPort: UInt16
    ) throws(RadioError) -> Self {
        guard !address.host.isEmpty else {
            throw RadioError(
                .usage, "the station to talk with is missing: write a host, such as bob.local or 10.0.0.7:5004")
        }
        let endpoints = try endpoints(of: address)
        guard let remote = endpoints.first, !remote.address.isMulticast else {
            throw RadioError(.usage, "talk works only with one other station: for a multicast group, use send and recv")
        }
        var rtpSession = rtpSession
        rtpSession.remotes = [remote]
        rtpSession.accepted = .only(Set(endpoints.map(\.address)))
        rtpSession.acceptStaticPayloadTypes()
        var configuration = Self(local: Endpoint(.anyV6, port: localPort), rtpSession: rtpSession)
        configuration.partner = Partner(address: address)
        return configuration
    }

    /// Creates a configuration that joins the channel of `link`, as a talker or as a listener. If the link has no host,
    /// the session serves the channel's members itself on the link's port, or joins another tenfour on this machine
    /// that uses the port.
    public static func joining(
        _ link: ChannelLink, as role: Role, rtpSession: RTPSessionConfiguration = .init(), localPort: UInt16? = nil
    ) throws(RadioError) -> Self {
        let keys: ChannelKeys
        do throws(PassphraseError) { keys = try ChannelKeys(link) } catch {
            throw RadioError(.usage, error.description)
        }
        guard keys.joinKey(for: role) != nil else {
            throw RadioError(
                .usage, "this is a listen link, which does not let you talk: ask for the channel's talk link")
        }
        var relays = try Self.relays(of: link)
        if relays.isEmpty, let neighbour = Self.neighbour(onPort: link.port) { relays = [neighbour] }
        guard !relays.isEmpty || keys.talkJoin != nil else {
            throw RadioError(
                .usage,
                "this link has no host: write the name of the relay's or the station's machine into it, as in tenfour://HOST/\(link.name)#…"
            )
        }
        var rtpSession = rtpSession
        let name = rtpSession.name
        // Removes our name from RTCP, because the relay can read RTCP, but must not learn names.
        rtpSession.name = nil
        rtpSession.remotes = [Channel.sessionEndpoint]
        rtpSession.accepted = .anyone
        rtpSession.controlPort = .multiplexed
        rtpSession.lossProtection.sourcesSupportNACK = true
        let port = localPort ?? (relays.isEmpty ? link.port : 0)
        var configuration = Self(local: Endpoint(.anyV6, port: port), rtpSession: rtpSession)
        var settings = ChannelSettings(keys: keys, role: role, relays: relays)
        settings.name = name
        settings.fingerprint = link.fingerprint
        configuration.protection = .channel(settings)
        return configuration
    }

    /// Looks up the relays of a link. One that is not found is looked up again later, unless it is the only one.
    private static func relays(of link: ChannelLink) throws(RadioError) -> [ChannelSettings.Relay] {
        var failure: RadioError?
        var relays: [ChannelSettings.Relay] = []
        for host in link.relays {
            var found: [Endpoint] = []
            do throws(RadioError) {
                found = try endpoints(of: StreamAddress(host: host.name, port: host.port))
            } catch {
                failure = failure ?? error
            }
            relays.append(.init(id: host.id, host: host, endpoints: found))
        }
        if let failure, relays.allSatisfy(\.endpoints.isEmpty) { throw failure }
        return relays
    }

    /// Returns the settings for joining the channel through another tenfour process on this machine; nil if no such
    /// process uses `port`. `port` is the port of a link without a host.
    private static func neighbour(onPort port: UInt16) -> ChannelSettings.Relay? {
        guard let holder = PortHolder(of: port), holder.program == "tenfour", !holder.isThisProcess else { return nil }
        return .init(id: RelayID(host: "localhost", port: port), endpoints: [Endpoint(.loopbackV4, port: port)])
    }

    /// Creates a configuration that receives the stream that an SDP file describes.
    public static func receiving(
        _ description: SessionDescription, rtpSession: RTPSessionConfiguration = .init(),
        multicastInterface: String? = nil
    ) throws(RadioError) -> Self {
        guard !description.payloadTypes.isEmpty else { throw description.unsupportedCodecs(verb: "plays") }
        var rtpSession = rtpSession
        if let opus = description.opus { rtpSession.payloadType = opus.payloadType }
        rtpSession.acceptedPayloadTypes = description.payloadTypes
        rtpSession.recognisesOpus = false
        rtpSession.controlPort = description.multiplexesRTCP ? .multiplexed : .next
        rtpSession.lossProtection.sourcesSupportNACK = description.supportsNACK
        if let red = description.redundantOpus { rtpSession.lossProtection.redPayloadType = red.payloadType }
        let isMulticast = description.connection.isMulticast
        let address = StreamAddress(host: isMulticast ? description.connection.address : "", port: description.port)
        var configuration = try receiving(on: address, rtpSession: rtpSession, multicastInterface: multicastInterface)
        configuration.protection = Protection(srtp: try description.srtpKey())
        return configuration
    }

    /// Creates a configuration that sends to the receiver that an SDP file describes. Throws `.unavailable` if the
    /// receiver does not accept `encoding`.
    public static func sending(
        to description: SessionDescription, in encoding: AudioEncoding = .opus,
        rtpSession: RTPSessionConfiguration = .init(), localPort: UInt16 = 0, multicastInterface: String? = nil,
        timeToLive: UInt8 = 1
    ) throws(RadioError) -> Self {
        var rtpSession = rtpSession
        rtpSession.payloadType = try payloadType(of: encoding, in: description)
        rtpSession.acceptedPayloadTypes = [rtpSession.payloadType: encoding]
        rtpSession.controlPort = description.multiplexesRTCP ? .multiplexed : .next
        rtpSession.lossProtection.remoteCapabilities = Capabilities(of: description)
        if let red = description.redundantOpus { rtpSession.lossProtection.redPayloadType = red.payloadType }
        var configuration = try sending(
            to: StreamAddress(host: description.connection.address, port: description.port), rtpSession: rtpSession,
            localPort: localPort, multicastInterface: multicastInterface,
            timeToLive: description.connection.timeToLive ?? timeToLive)
        configuration.coding.encoding = encoding
        configuration.protection = Protection(srtp: try description.srtpKey())
        return configuration
    }

    /// Returns the payload type under which a receiver accepts `encoding`. Throws `.unavailable` with the codec that it
    /// accepts instead.
    private static func payloadType(
        of encoding: AudioEncoding, in description: SessionDescription
    ) throws(RadioError) -> UInt8 {
        if let payloadType = description.payloadType(of: encoding) { return payloadType }
        guard let other = AudioEncoding.allCases.first(where: { description.payloadType(of: $0) != nil }) else {
            throw description.unsupportedCodecs(verb: "sends")
        }
        throw RadioError(
            .unavailable,
            "this SDP does not offer \(encoding.name): write --codec \(other.name.lowercased()), which it offers")
    }

    private static func endpoint(of address: StreamAddress) throws(RadioError) -> Endpoint {
        try endpoints(of: address)[0]
    }

    /// Looks up a host; at least one endpoint is returned.
    package static func endpoints(of address: StreamAddress) throws(RadioError) -> [Endpoint] {
        do { return try Resolver.resolve(address.host, port: address.port) } catch { throw RadioError(error) }
    }
}

extension IPAddress {
    /// The unspecified address of the same family: 0.0.0.0 or ::.
    fileprivate var unspecified: Self {
        switch self {
        case .v4: .anyV4
        case .v6: .anyV6
        }
    }
}
