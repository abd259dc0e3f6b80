package import TenfourAudioCore

/// The timeout of `poll` and its kin: whole milliseconds, or -1 for no limit.
package enum PollTimeout {
    /// Returns the time that is left, rounded up, because a wait that is too short would be repeated until the deadline.
    /// At least 0, at most `limit`; -1 if `left` is nil.
    package static func milliseconds(in left: Duration?, atMost limit: Int32 = .max) -> Int32 {
        guard let left else { return -1 }
        let nanoseconds = max(Instant.nanoseconds(in: left), 0)
        return Int32(clamping: min((nanoseconds + 999_999) / 1_000_000, Int64(limit)))
    }

    /// The same for the time that is left until `deadline`; nil means no deadline. For any thread.
    package static func milliseconds(until deadline: Instant?, atMost limit: Int32 = .max) -> Int32 {
        milliseconds(in: deadline.map { $0 - MonotonicClock.now }, atMost: limit)
    }
}
