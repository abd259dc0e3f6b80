/// The configuration of an RTP session.
public struct RTPSessionConfiguration: Hashable, Sendable {
    /// The addresses that our stream and reports go to, as a person typed them; empty if we only listen.
    public var remotes: [Endpoint]
    /// The addresses whose datagrams are accepted.
    public var accepted: Accepted
    /// The dynamic payload type of Opus, 96…127: what we send, and with `acceptedPayloadTypes` what we take.
    public var payloadType: UInt8
    public var acceptedPayloadTypes: Set<UInt8>
    public var controlPort: ControlPort
    /// Our name for people; nil if the user gives none.
    public var name: String?
    /// The settings of loss protection.
    public var lossProtection: LossProtectionConfiguration
    /// Whether we listen to a multicast group: then nothing is requested.
    public var hearsGroup: Bool

    public enum Accepted: Hashable, Sendable {
        case anyone
        case only(Set<IPAddress>)
    }

    /// Where RTCP goes.
    public enum ControlPort: Hashable, Sendable {
        /// On the media's port (RFC 5761).
        case multiplexed
        /// On the port above it (RFC 3550 section 11).
        case next
        /// Nowhere: nothing is reported.
        case none
    }

    public init(
        remotes: [Endpoint] = [], accepted: Accepted = .anyone, payloadType: UInt8 = 111,
        acceptedPayloadTypes: Set<UInt8>? = nil, controlPort: ControlPort = .multiplexed,
        name: String? = nil, lossProtection: LossProtectionConfiguration = .init(), hearsGroup: Bool = false
    ) {
        self.remotes = remotes
        self.accepted = accepted
        self.payloadType = payloadType
        self.acceptedPayloadTypes = acceptedPayloadTypes ?? [payloadType]
        self.controlPort = controlPort
        self.name = name
        self.lossProtection = lossProtection
        self.hearsGroup = hearsGroup
    }

    /// Whether a person typed the address of `sender`. Only receivers at these addresses decide about our stream.
    func isRemote(_ sender: Endpoint) -> Bool { remotes.contains { $0.address == sender.address } }

    /// Whether NACKs for our stream are answered.
    var retransmits: Bool {
        (lossProtection.mode == .auto || lossProtection.mode == .nack) && !isGroup && controlPort != .none
    }

    /// Where RTCP goes for a remote or source whose media has the address `media`; nil if there is no port above.
    func controlEndpoint(of media: Endpoint) -> Endpoint? {
        guard controlPort == .next else { return media }
        return media.port == .max ? nil : Endpoint(media.address, port: media.port + 1)
    }

    /// Whether others hear what we hear, or hear us, by the same datagrams.
    var isGroup: Bool { hearsGroup || remotes.contains { $0.address.isMulticast } }
}
