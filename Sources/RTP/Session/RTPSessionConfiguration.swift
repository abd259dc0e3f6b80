public import TenfourAudioCore

/// The configuration of an RTP session.
public struct RTPSessionConfiguration: Hashable, Sendable {
    /// The configured remotes: the addresses to which our stream and reports are sent, as a person typed them. Empty if
    /// we only listen.
    public var remotes: [Endpoint]
    /// The addresses whose datagrams are accepted.
    public var accepted: Accepted
    /// The payload type that we send: a dynamic one, 96…127, for Opus; 0, 8 or a dynamic one for G.711.
    public var payloadType: UInt8
    /// The payload types that we accept, and the encoding of each. Default: `payloadType` alone, which is that of Opus
    /// unless RFC 3551 assigns it to G.711.
    public var acceptedPayloadTypes: [UInt8: AudioEncoding]
    /// Whether a stream of another dynamic payload type is played if its packets are recognised as Opus. Default: true,
    /// unless the accepted payload types are given.
    public var recognisesOpus: Bool
    /// The port that RTCP uses.
    public var controlPort: ControlPort
    /// The name that our reports state; nil if the user gives none.
    public var name: String?
    /// The settings of loss protection.
    public var lossProtection: LossProtectionConfiguration
    /// Whether we listen to a multicast group. If true, no lost packets are requested.
    public var hearsGroup: Bool

    public enum Accepted: Hashable, Sendable {
        case anyone
        case only(Set<IPAddress>)
    }

    /// The port that RTCP uses.
    public enum ControlPort: Hashable, Sendable {
        /// RTCP shares the port of the media (RFC 5761).
        case multiplexed
        /// RTCP uses the port after the port of the media (RFC 3550 section 11).
        case next
        /// No RTCP is sent.
        case none
    }

    public init(
        remotes: [Endpoint] = [], accepted: Accepted = .anyone, payloadType: UInt8 = 111,
        acceptedPayloadTypes: [UInt8: AudioEncoding]? = nil, controlPort: ControlPort = .multiplexed,
        name: String? = nil, lossProtection: LossProtectionConfiguration = .init(), hearsGroup: Bool = false
    ) {
        self.remotes = remotes
        self.accepted = accepted
        self.payloadType = payloadType
        self.acceptedPayloadTypes =
            acceptedPayloadTypes ?? [payloadType: AudioEncoding.staticPayloadTypes[payloadType] ?? .opus]
        recognisesOpus = acceptedPayloadTypes == nil
        self.controlPort = controlPort
        self.name = name
        self.lossProtection = lossProtection
        self.hearsGroup = hearsGroup
    }

    /// The encoding that we send.
    public var encoding: AudioEncoding {
        acceptedPayloadTypes[payloadType] ?? AudioEncoding.staticPayloadTypes[payloadType] ?? .opus
    }

    /// Accepts G.711 under its static payload types, unless these are assigned to another encoding.
    package mutating func acceptStaticPayloadTypes() {
        acceptedPayloadTypes.merge(AudioEncoding.staticPayloadTypes) { assigned, _ in assigned }
    }

    /// Whether `sender` has the address of a configured remote; its port may differ. Only receivers at these addresses
    /// influence our stream.
    func isRemote(_ sender: Endpoint) -> Bool { remotes.contains { $0.address == sender.address } }

    /// Whether `sender` is a configured remote, or its endpoint for RTCP.
    func isConfigured(_ sender: Endpoint) -> Bool {
        remotes.contains { $0 == sender || controlEndpoint(of: $0) == sender }
    }

    /// Whether NACKs for our stream are answered.
    var retransmits: Bool {
        (lossProtection.mode == .auto || lossProtection.mode == .nack) && !isGroup && controlPort != .none
    }

    /// Returns the endpoint for RTCP to a remote or source whose media uses the endpoint `media`; nil if RTCP uses the
    /// next port and `media` has port 65 535.
    func controlEndpoint(of media: Endpoint) -> Endpoint? {
        guard controlPort == .next else { return media }
        return media.port == .max ? nil : Endpoint(media.address, port: media.port + 1)
    }

    /// Whether the session uses multicast, so that several participants receive the same datagrams.
    var isGroup: Bool { hearsGroup || remotes.contains { $0.address.isMulticast } }
}
