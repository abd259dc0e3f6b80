public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourSession

/// The configuration of a `Channel`: keys, role, relays, and the format of our packets.
public struct ChannelConfiguration: Sendable {
    public var keys: ChannelKeys
    public var role: Role
    /// The relays that may be joined, at least one, in the order in which they are tried.
    public var relays: [RelayCandidate]
    public var suite: SRTPSuite
    /// The sizes to which our packets are padded.
    public var sizes: PaddedSizes
    /// The duration of each of our packets.
    public var frameCount: FrameCount
    /// Whether the kernel reports the wall clock as synchronised. If not, the relay's clock is used.
    public var isSynchronised: Bool
    /// Whether the floor is requested before talking (Protocol/10-floor.md).
    public var usesFloor = false
    /// The name shown to the other members; nil if no name is shown.
    public var name: String?
    /// The number of datagrams with hop tags after which a new session is needed.
    var lastHopCounter = HopTagger.lastCounter

    /// `bitRate` is the bit rate of our stream in bit/s, from which the padded sizes are computed. `frameCount` is the
    /// duration of each packet.
    public init(
        keys: ChannelKeys, role: Role, relays: [RelayCandidate], suite: SRTPSuite = .aesCounterMode,
        bitRate: Int = 24_000, frameCount: FrameCount = FrameCount(960),
        isSynchronised: Bool = true
    ) {
        precondition(!relays.isEmpty, "a relay is somewhere")
        precondition(keys.joinKey(for: role) != nil, "who holds a listen link cannot talk")
        self.keys = keys
        self.role = role
        self.relays = relays
        self.suite = suite
        sizes = PaddedSizes(nominal: bitRate / 8 * frameCount.rawValue / 48_000)
        self.frameCount = frameCount
        self.isSynchronised = isSynchronised
    }

    /// Whether we can change over to another relay: there is more than one transport address.
    var canChangeOver: Bool { relays.contains { $0.endpoint != relays[0].endpoint } }

    var joinKey: JoinKey {
        guard let key = keys.joinKey(for: role) else { preconditionFailure("who holds a listen link cannot talk") }
        return key
    }
}
