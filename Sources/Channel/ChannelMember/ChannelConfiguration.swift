public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourManagedChannel
import TenfourSession

/// The configuration of a `Channel`: keys, role, relays, and the format of our packets.
public struct ChannelConfiguration: Sendable {
    public var keys: ChannelKeys
    public var role: Role
    /// The relays that may be joined, at least one, in the order in which they are tried.
    public var relays: [RelayCandidate]
    /// Recognises the relays' static key; nil if the relays need not prove themselves.
    public var fingerprint: RelayFingerprint?
    /// Our identity, with which we join a channel that has an owner; nil if we have none. In other channels it is not used,
    /// and the relay does not learn it.
    public var identity: MemberIdentity?
    /// Whether the random numbers of epochs, prekeys and group secrets come from the system at the moment when they are
    /// drawn. A test leaves this off, so that it can be repeated.
    public var drawsFromSystem = false
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
    /// The counter of the relay's trailers after which a new session is needed.
    var lastTrailerCounter = RelayTrailer.lastCounter

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

    /// Whether media that is too old by its talker's clock is refused: where the relay proves itself.
    var limitsAge: Bool { fingerprint != nil }

    /// Whether we can change over to another relay: there is more than one transport address.
    var canChangeOver: Bool { relays.contains { $0.endpoint != relays[0].endpoint } }

    /// Makes the next random numbers come from the system, because a copy of this machine would repeat those of a generator
    /// that was seeded earlier.
    func drawAnew(_ generator: inout CSPRNG) { if drawsFromSystem { generator = CSPRNG() } }

    /// Begins an attempt to join `relay`.
    func joinAttempt(at relay: RelayCandidate, using generator: inout CSPRNG) -> JoinAttempt {
        JoinAttempt(
            joinKey, relay: relay.id, expecting: fingerprint.map { ExpectedRelay($0, of: keys) },
            as: identity?.agreementPair, using: &generator)
    }

    var joinKey: JoinKey {
        guard let key = keys.joinKey(for: role) else { preconditionFailure("who holds a listen link cannot talk") }
        return key
    }
}
