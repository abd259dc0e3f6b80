internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourManagedChannel
internal import TenfourPackets

/// An epoch of our own stream.
struct OwnEpoch: Sendable {
    let ssrc: SSRC
    let epoch: Epoch
    /// The sequence number of the epoch's first packet, which may not have been sent yet.
    let first: SequenceNumber
    let began: Instant
    private let root: MediaRoot
    /// The group secret from which the key follows; nil in an open channel.
    let secret: GroupSecretID?
    private(set) var latest: PacketIndex?
    /// The values at the time when the epoch was created: CLOCK_BOOTTIME, the time that the machine had slept since it
    /// was started, and the RTP timestamp.
    private let drawn: (boot: Instant, suspended: Duration, timestamp: RTPTimestamp)
    /// The smallest delay so far of the epoch's RTP timestamps behind CLOCK_BOOTTIME. The delay when the epoch was
    /// created counts as 0.
    private var leastDelay = Duration.zero
    /// The time since which the RTP timestamps have been behind CLOCK_BOOTTIME by more than `tolerance`; nil if they
    /// are not.
    private var behindSince: Instant?

    /// The largest delay of RTP timestamps behind CLOCK_BOOTTIME, above `leastDelay`, that does not count as falling
    /// behind.
    private static let tolerance = Duration.milliseconds(250)
    /// The time for which RTP timestamps must have fallen behind CLOCK_BOOTTIME before a new epoch begins. At the first
    /// packet of a talkspurt, a new epoch begins without this delay.
    private static let patience = Duration.seconds(1)
    /// The largest delay with which an epoch goes on while the next one is announced. Receivers refuse packets from 2 s on.
    private static let longestDelay = Duration.milliseconds(1_500)

    /// Makes an epoch that is created immediately before the packet with `header` is sent. `first` and `began` are the
    /// sequence number and the time of the epoch's first packet.
    init(
        _ header: RTPHeader, _ epoch: Epoch, _ keys: StreamKeys, first: SequenceNumber, began: Instant,
        at clocks: ClockReading
    ) {
        ssrc = header.ssrc
        self.epoch = epoch
        root = keys.root
        secret = keys.name?.secret
        self.first = first
        self.began = began
        drawn = (clocks.boot, clocks.suspended, header.timestamp)
    }

    var isSynchronised: Bool { epoch.timing?.isSynchronised ?? false }

    func context(_ suite: SRTPSuite) -> SRTPContext? {
        try? SRTPContext(sending: root.masterKey(suite, ssrc: ssrc, epoch: epoch), ssrc: ssrc)
    }

    /// Appends an announcement of this epoch.
    func announce(_ suite: SRTPSuite, _ keys: StreamKeys, at boot: Instant, into datagram: inout OutputSpan<UInt8>) {
        let content = AnnouncedEpoch(suite: suite, ssrc: ssrc, epoch: epoch, index: index, at: clock(at: boot))
        keys.write(content, under: root, into: &datagram)
    }

    /// The packet index for announcements: the index of the latest packet sent, or of the first packet if none has been
    /// sent.
    private var index: PacketIndex { latest ?? PacketIndex(rolloverCounter: 0, first) }

    /// Returns the time of day for an announcement: the whole seconds of the wall clock when the epoch was created,
    /// plus the whole seconds that have passed since.
    private func clock(at boot: Instant) -> WallClock {
        let passed = max((boot - drawn.boot) / .seconds(1), 0)
        return WallClock(milliseconds: (epoch.milliseconds / 1_000 + UInt64(passed)) * 1_000)
    }

    mutating func sent(_ number: SequenceNumber) {
        latest = latest?.closest(number) ?? PacketIndex(rolloverCounter: 0, number)
    }

    /// The difference between the epoch's clock and our wall clock, which was set since the epoch was created.
    func clockError(at clocks: ClockReading) -> Duration {
        let passed = Int64((clocks.boot - drawn.boot) / .milliseconds(1))
        return .milliseconds(
            abs(Int64(clamping: clocks.wall.sinceEpoch) - Int64(clamping: epoch.milliseconds) - passed))
    }

    /// Whether a stream goes on in its epoch.
    enum Continuation {
        case sameEpoch
        /// The next epoch is announced first, because a word is being said.
        case nextEpochSoon
        /// The next epoch begins with this packet: there was a pause, or receivers would refuse the packets until then.
        case nextEpochNow
    }

    /// Returns whether the stream goes on in its epoch, or when the next one begins. A new epoch is needed if the
    /// timestamps have fallen behind our clock, for example because the machine slept or the microphone stopped. Receivers
    /// cannot distinguish such packets from packets that an attacker has held back.
    mutating func continuation(_ header: RTPHeader, at clocks: ClockReading) -> Continuation {
        if clocks.suspended - drawn.suspended > Self.tolerance { return .nextEpochNow }
        let frames = header.timestamp.distance(after: drawn.timestamp)
        let delay = clocks.boot - drawn.boot - frames.duration()
        leastDelay = min(leastDelay, delay)
        guard delay - leastDelay > Self.tolerance else {
            behindSince = nil
            return .sameEpoch
        }
        let since = behindSince ?? clocks.boot
        behindSince = since
        if header.marker { return .nextEpochNow }
        guard clocks.boot - since >= Self.patience else { return .sameEpoch }
        return delay - leastDelay > Self.longestDelay ? .nextEpochNow : .nextEpochSoon
    }
}
