internal import TenfourAudioCore
public import TenfourPackets
internal import TenfourSeededRandom

/// All values of a session that are random or depend on the wall clock, so that a test can repeat a run to the byte.
public struct Identity: Hashable, Sendable {
    public var ssrc: SSRC
    /// The first sequence number. `random` chooses 0…32 767, so that a receiver that misses the first packets still
    /// guesses SRTP's rollover counter right. A test may begin at the wrap.
    public var firstSequenceNumber: SequenceNumber
    /// The RTP timestamp of position 0 in our stream.
    public var firstTimestamp: RTPTimestamp
    /// The seed of the random numbers that the session draws later: for report intervals, and for a new SSRC after a
    /// collision.
    public var seed: UInt64
    /// The CNAME in our reports. It stays the same when the SSRC changes. Each session has a new random CNAME, so that
    /// it reveals nothing about us (RFC 7022).
    public var canonicalName: String
    /// The wall clock at `Instant.start`, for sender reports.
    public var wallClock: NTPTime

    public init(
        ssrc: SSRC, firstSequenceNumber: SequenceNumber = SequenceNumber(rawValue: 0),
        firstTimestamp: RTPTimestamp = RTPTimestamp(rawValue: 0), seed: UInt64 = 0,
        canonicalName: String = "tenfour", wallClock: NTPTime = NTPTime(rawValue: 0)
    ) {
        self.ssrc = ssrc
        self.firstSequenceNumber = firstSequenceNumber
        self.firstTimestamp = firstTimestamp
        self.seed = seed
        self.canonicalName = canonicalName
        self.wallClock = wallClock
    }

    /// Returns an identity of random values that nobody can predict, as RFC 3550 section 5.1 demands.
    public static func random(wallClock: NTPTime, using generator: inout some RandomNumberGenerator) -> Self {
        Self(
            ssrc: SSRC(.random(in: 1 ... .max, using: &generator)),
            firstSequenceNumber: SequenceNumber(rawValue: .random(in: 0...32_767, using: &generator)),
            firstTimestamp: RTPTimestamp(rawValue: .random(in: 0 ... .max, using: &generator)),
            seed: .random(in: 0 ... .max, using: &generator),
            canonicalName: hexadecimal(.random(in: 0 ... .max, using: &generator)),
            wallClock: wallClock)
    }

    /// Returns the wall clock at `now`.
    func wallClock(at now: Instant) -> NTPTime { wallClock.advanced(by: now - .start) }

    /// Returns the next random number of `seed` (SplitMix64).
    mutating func draw() -> UInt64 {
        var generator = SplitMix64(state: seed)
        defer { seed = generator.state }
        return generator.next()
    }
}

private func hexadecimal(_ number: UInt128) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
}
