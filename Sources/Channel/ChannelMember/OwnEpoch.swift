internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// One epoch of our stream.
struct OwnEpoch: Sendable {
    let ssrc: SSRC
    let epoch: Epoch
    /// Its first packet, which may not have gone out yet.
    let first: SequenceNumber
    let began: Instant
    private(set) var latest: PacketIndex?
    /// CLOCK_BOOTTIME, the time slept until then, and the stream's timestamp when it was drawn.
    private let drawn: (boot: Instant, suspended: Duration, timestamp: RTPTimestamp)
    /// The least delay of its packets behind our clock so far.
    private var leastDelay = Duration.zero
    /// When packets began to be behind by more than `tolerance`; nil while they are not.
    private var behindSince: Instant?

    /// How far its packets may fall behind our clock.
    private static let tolerance = Duration.milliseconds(250)
    /// Packets that are behind for a shorter time were only late.
    private static let patience = Duration.seconds(1)

    /// Drawn when the packet of `header` is going to be sent.
    init(_ header: RTPHeader, _ epoch: Epoch, first: SequenceNumber, began: Instant, at clocks: ClockReading) {
        ssrc = header.ssrc
        self.epoch = epoch
        self.first = first
        self.began = began
        drawn = (clocks.boot, clocks.suspended, header.timestamp)
    }

    var isSynchronised: Bool { epoch.timing?.isSynchronised ?? false }

    func context(_ configuration: ChannelConfiguration) -> SRTPContext? {
        let key = configuration.keys.mediaRoot.masterKey(configuration.suite, ssrc: ssrc, epoch: epoch)
        return try? SRTPContext(sending: key, ssrc: ssrc)
    }

    /// The packet index in an announcement: of the latest packet, or of the first to come.
    var index: PacketIndex { latest ?? PacketIndex(rolloverCounter: 0, first) }

    /// The clock in an announcement: the wall clock's second when the epoch was drawn, and the whole seconds since.
    func clock(at boot: Instant) -> WallClock {
        let passed = max((boot - drawn.boot) / .seconds(1), 0)
        return WallClock(milliseconds: (epoch.milliseconds / 1_000 + UInt64(passed)) * 1_000)
    }

    mutating func sent(_ number: SequenceNumber) {
        latest = latest?.closest(number) ?? PacketIndex(rolloverCounter: 0, number)
    }

    /// Whether the stream's timestamps have fallen behind our clock, as when the machine slept or the microphone stood still:
    /// receivers could not tell its packets from withheld ones.
    mutating func hasFallenBehind(_ header: RTPHeader, at clocks: ClockReading) -> Bool {
        if clocks.suspended - drawn.suspended > Self.tolerance { return true }
        let frames = header.timestamp.distance(after: drawn.timestamp)
        let delay = clocks.boot - drawn.boot - frames.duration()
        leastDelay = min(leastDelay, delay)
        guard delay - leastDelay > Self.tolerance else {
            behindSince = nil
            return false
        }
        let since = behindSince ?? clocks.boot
        behindSince = since
        return header.marker || clocks.boot - since >= Self.patience
    }
}
