public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourSession

/// The configuration of a `Channel`: keys, role, relay, and the format of our packets.
public struct ChannelConfiguration: Sendable {
    public var keys: ChannelKeys
    public var role: Role
    /// The id of the relay, made from its host and port in the link.
    public var relay: RelayID
    /// The endpoints of the relay, at least one, which are tried one after another.
    public var endpoints: [Endpoint]
    public var suite: SRTPSuite
    /// The sizes to which our packets are padded.
    public var sizes: PaddedSizes
    /// The duration of each of our packets.
    public var frameCount: FrameCount
    /// Whether the kernel reports the wall clock as synchronised. If not, the relay's clock is used.
    public var isSynchronised: Bool
    /// The name shown to the other members; nil if no name is shown.
    public var name: String?
    /// The number of datagrams with hop tags after which a new session is needed.
    var lastHopCounter = HopTagger.lastCounter

    /// `bitRate` is the bit rate of our stream in bit/s, from which the padded sizes are computed. `frameCount` is the
    /// duration of each packet.
    public init(
        keys: ChannelKeys, role: Role, relay: RelayID, endpoints: [Endpoint], suite: SRTPSuite = .aesCounterMode,
        bitRate: Int = 24_000, frameCount: FrameCount = FrameCount(960),
        isSynchronised: Bool = true
    ) {
        precondition(!endpoints.isEmpty, "a relay is somewhere")
        precondition(keys.joinKey(for: role) != nil, "who holds a listen link cannot talk")
        self.keys = keys
        self.role = role
        self.relay = relay
        self.endpoints = endpoints
        self.suite = suite
        sizes = PaddedSizes(nominal: bitRate / 8 * frameCount.rawValue / 48_000)
        self.frameCount = frameCount
        self.isSynchronised = isSynchronised
    }

    var joinKey: JoinKey {
        guard let key = keys.joinKey(for: role) else { preconditionFailure("who holds a listen link cannot talk") }
        return key
    }
}
