public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourSession

/// The configuration of a member.
public struct ChannelConfiguration: Sendable {
    public var keys: ChannelKeys
    public var role: Role
    /// As the link names the relay.
    public var relay: RelayID
    /// Where the relay may be, one or more: they are tried in turn.
    public var endpoints: [Endpoint]
    public var suite: SRTPSuite
    /// To which sizes our packets are padded.
    public var sizes: PaddedSizes
    /// The duration of each of our packets.
    public var frameCount: FrameCount
    /// Whether the kernel calls the wall clock synchronised. Where it does not, the relay's counts.
    public var isSynchronised: Bool
    /// The name that the other members see; nil for none.
    public var name: String?
    /// The session is made anew when so many datagrams have gone out in it.
    var lastHopCounter = HopTagger.lastCounter

    /// `bitRate` is our stream's, in bits a second.
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
