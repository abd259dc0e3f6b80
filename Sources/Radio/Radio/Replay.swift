/// What is to be heard again; see `RadioSession.replay`.
public enum ReplayRange: UInt8, Hashable, Sendable {
    /// The transmission that ended last; while none has ended, the one that goes on.
    case lastTransmission = 1
    /// Everything that was said in the last minute, 1.25 times as fast.
    case lastMinute = 2

    /// The time that a `lastMinute` covers.
    static let minute = Duration.seconds(60)

    var rate: Double { self == .lastTransmission ? 1 : 1.25 }
}

/// What became of `RadioSession.replay`.
public enum ReplayEvent: Hashable, Sendable {
    /// The replay begins. `duration` is the time that it takes.
    case began(transmissionCount: Int, duration: Duration)
    /// Nobody has talked in that time.
    case nothing
    /// The replay has ended, or was stopped, perhaps before it began.
    case ended
}
