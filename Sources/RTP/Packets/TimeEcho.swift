/// A reference time that is returned to its sender (RFC 3611 section 4.5, DLRR). By it, even a participant that sends
/// no media can measure the round trip.
public struct TimeEcho: Hashable, Sendable {
    /// The SSRC of the participant that sent the time.
    public var teller: SSRC
    /// The reference time that is returned.
    public var time: ShortNTPTime
    /// The time from the arrival of `time` to the sending of this echo; written in 1/65536 s, 0…18 hours.
    public var delay: Duration

    public init(teller: SSRC, time: ShortNTPTime, delay: Duration) {
        self.teller = teller
        self.time = time
        self.delay = delay
    }

    /// Returns the round-trip time, for an echo of our own time that arrived at `now` by the same clock.
    public func roundTrip(receivedAt now: NTPTime) -> Duration { time.roundTrip(lessDelay: delay, receivedAt: now) }

    static let byteCount = 12

    func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(bigEndian: teller.rawValue)
        datagram.append(bigEndian: time.rawValue)
        datagram.append(bigEndian: delay.shortNTP)
    }

    /// Parses the echo at `start`; the caller has checked that twelve bytes are there.
    init(parsing datagram: Span<UInt8>, at start: Int) {
        teller = SSRC(datagram.uint32(at: start))
        time = ShortNTPTime(rawValue: datagram.uint32(at: start + 4))
        delay = Duration(shortNTP: datagram.uint32(at: start + 8))
    }
}

extension ShortNTPTime {
    /// Returns the time from this instant to `now`, less the delay at the other end. A negative result, from rounding
    /// or a wrong report, counts as zero.
    func roundTrip(lessDelay delay: Duration, receivedAt now: NTPTime) -> Duration {
        let passed = now.short.rawValue &- rawValue &- delay.shortNTP
        return Int32(bitPattern: passed) < 0 ? .zero : Duration(shortNTP: passed)
    }
}
