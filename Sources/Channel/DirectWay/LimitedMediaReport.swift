internal import TenfourAudioCore

/// Tells the relay which members hear this one directly, and repeats it, because records may be lost.
struct LimitedMediaReport: Sendable {
    private var indexes: [UInt16] = []
    private var isAllowed = true
    private var revision: UInt32 = 0
    private var isAnswered = false
    /// The number of quick repetitions that are left.
    private var repetitions = 0
    /// The moment of the next record; nil before the member has joined.
    private(set) var due: Instant?

    /// The relay forgets what it was told 5 s after the last record.
    private static let pause: Duration = .seconds(2)
    private static let quietPause: Duration = .seconds(10)
    private static let quickPause: Duration = .milliseconds(100)
    /// The number of repetitions when the relay must forward to a member again.
    private static let repetitionCount = 2

    mutating func joined(at now: Instant) {
        isAnswered = false
        due = now
    }

    /// DIRECT MEMBERS has come: the relay knows this page.
    mutating func answered() { isAnswered = true }

    mutating func update(_ indexes: [UInt16], isAllowed: Bool, at now: Instant) {
        guard indexes != self.indexes || isAllowed != self.isAllowed else { return }
        if !Set(self.indexes).isSubset(of: indexes) || !isAllowed { repetitions = Self.repetitionCount }
        (self.indexes, self.isAllowed) = (indexes, isAllowed)
        revision &+= 1
        if due != nil { due = now }
    }

    mutating func next(isAllowed: Bool, at now: Instant) -> LimitedMedia? {
        guard let due, now >= due else { return nil }
        if repetitions > 0 {
            repetitions -= 1
            self.due = now + Self.quickPause
        } else {
            self.due = isAllowed ? now + (indexes.isEmpty && isAnswered ? Self.quietPause : Self.pause) : nil
        }
        return LimitedMedia(revision: revision, allowsDirect: isAllowed, indexes: indexes)
    }
}
