internal import TenfourAudioCore
internal import TenfourPacing

/// The times and limits of Protocol/10-floor.md.
enum FloorTiming {
    // The arbiter.
    static let grantRepetition = Duration.milliseconds(50)
    /// A talker that is silent for longer must answer.
    static let quietTalker = Duration.milliseconds(250)
    /// A talker that is silent for longer has vanished.
    static let vanishedTalker = Duration.milliseconds(1500)
    /// A talker that knows no floor control and is silent for longer has finished.
    static let unawareTalker = Duration.milliseconds(500)
    /// Media of a talker that has released the floor is forwarded for this time, if nobody else talks.
    static let tail = Duration.milliseconds(500)
    static let revocationRepetition = Duration.milliseconds(50)
    static let revocationEnd = Duration.milliseconds(500)
    static let takenRepetitions: [Duration] = [.milliseconds(100), .milliseconds(300)]
    static let takenInterval = Duration.seconds(1)
    static let idleRepetitions: [Duration] = [
        .milliseconds(100), .milliseconds(300), .seconds(1), .seconds(3), .seconds(10),
    ]
    /// The pause of a participant that has talked longer than it may.
    static let pauseAfterTooLong = Duration.seconds(2)
    static let emergencyInterval = Duration.seconds(60)
    static let queueCapacity = 16
    static let queueEnd = Duration.seconds(4)
    /// The time for which a new leader answers only those who send.
    static let newLeader = Duration.milliseconds(500)
    /// The number of messages that an arbiter accepts from a member.
    static let messages = CellRateLimit.Price(perSecond: 30, most: 60)

    // The participant.
    static let repetitions: [Duration] = [20, 50, 90, 140, 200].map { .milliseconds($0) }
    static let repetitionInterval = Duration.milliseconds(100)
    static let releaseEnd = Duration.seconds(1)
    /// A permission that is not granted again for longer is over.
    static let permissionEnd = Duration.milliseconds(500)
    static let takenEnd = Duration.milliseconds(3500)
    static let queueQuestion = Duration.seconds(1)
    static let questions: [Duration] = [250, 500, 1000, 1500].map { .milliseconds($0) }
    static let noArbiter = Duration.seconds(2)
    static let partnerHeard = Duration.milliseconds(500)

    // The leader of a cluster.
    static let claimInterval = Duration.milliseconds(500)
    static let claimAnswer = Duration.milliseconds(50)
    /// A claim for a relay that has just become a candidate is repeated after this time.
    static let newcomerClaim = Duration.milliseconds(100)
    static let firstClaim = Duration.milliseconds(200)
    static let claimWait = Duration.seconds(1)
    static let silentLeader = Duration.seconds(3)
}

extension Duration {
    /// The duration in whole milliseconds for a message, rounded up and limited to 32 bits; zero if it is not positive.
    var floorMilliseconds: UInt32 {
        UInt32(clamping: max(0, (Instant.nanoseconds(in: self) + 999_999) / 1_000_000))
    }
}

/// The times at which a message is repeated after it was sent first.
struct FloorRepetition: Hashable, Sendable {
    private let first: Instant
    private let early: [Duration]
    private let interval: Duration?
    private var count = 0

    /// `early` are times after `first`; `interval` follows the last of them, nil if it is the last.
    init(from first: Instant, _ early: [Duration], then interval: Duration?) {
        self.first = first
        self.early = early
        self.interval = interval
    }

    /// The time of the next repetition; nil after the last.
    var next: Instant? {
        if count < early.count { return first + early[count] }
        guard let interval else { return nil }
        return first + ((early.last ?? .zero) + interval * (count - early.count + 1))
    }

    /// Whether a repetition is due. If several are due, they count as one.
    mutating func isDue(at now: Instant) -> Bool {
        guard let due = next, due <= now else { return false }
        repeat { count += 1 } while next.map { $0 <= now } ?? false
        return true
    }
}
