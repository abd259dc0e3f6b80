package import TenfourAudioCore
package import TenfourChannelKeys
package import TenfourSession

/// Asks one relay whether it would let us into a channel. The relay forgets the session soon, because no record
/// confirms it, and no member hears of it.
///
/// Opens no socket and reads no clock. Use it as `StationExchange`.
package struct RelayExchange: Sendable {
    let endpoint: Endpoint
    package private(set) var outcome: Outcome?
    private var attempt: JoinAttempt
    private var doubt: RelayDoubt?
    private var heardOther = false
    private var otherVersion: UInt8?
    private var failure: Int32?
    private var sentAt: Instant
    /// The index of the next datagram to repeat.
    private var position = 0
    /// The number of times that the datagrams were repeated.
    private var roundCount = 0
    private var deadline: Instant
    private let end: Instant

    package enum Outcome: Sendable {
        /// The round trip of the last JOIN, the relay's clock less ours, and our address as it sees it.
        case welcome(Duration, difference: Duration, seenAt: Endpoint)
        case refusal(Refusal.Reason)
    }

    private static let interval = Duration.milliseconds(250)

    /// `identity` is used in a channel that has an owner. `limit` is the time after which the answers that came so far are the result. `generator` must be unpredictable.
    package init(
        _ endpoint: Endpoint, relay: RelayID, key: JoinKey, expecting expected: ExpectedRelay? = nil,
        as identity: KeyShare? = nil, within limit: Duration = .milliseconds(2_500), at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) {
        self.endpoint = endpoint
        attempt = JoinAttempt(key, relay: relay, expecting: expected, as: identity, using: &generator)
        deadline = now
        sentAt = now
        end = now + limit
    }

    /// `clock` is this machine's wall clock at `now`.
    package mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant, clock: WallClock) {
        guard sender == endpoint, outcome == nil else { return }
        switch attempt.receive(datagram) {
        case .cookie:
            position = attempt.datagramCount - 1
            deadline = now
        case .welcome(let terms, _):
            let ahead = Int64(clamping: terms.clock.sinceEpoch).subtractingReportingOverflow(
                Int64(clamping: clock.sinceEpoch)
            ).partialValue
            // A century is enough, and no sum of it overflows.
            let difference = Duration.milliseconds(min(max(ahead, -3_153_600_000_000), 3_153_600_000_000))
            outcome = .welcome(
                now - sentAt, difference: difference + (now - sentAt) / 2, seenAt: Endpoint(terms.address))
        case .refusal(let reason): outcome = .refusal(reason)
        case .doubt(let doubt): self.doubt = doubt
        case .nothing:
            if datagram.count >= 2, datagram[0] == ControlPacket.firstByte {
                if datagram[1] != 1 { otherVersion = datagram[1] }
            } else {
                heardOther = true
            }
        }
    }

    /// Records the errno of a datagram that was refused, at once or later by an ICMP error.
    mutating func sendingFailed(_ code: Int32) { failure = code }

    /// Appends the next datagram for `endpoint`, at most `JoinAttempt.maximumByteCount` bytes. Returns false if none is due.
    package mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard !isOver(at: now), deadline <= now, buffer.freeCapacity >= JoinAttempt.maximumByteCount else {
            return false
        }
        // Every fourth time, asks the question that a relay without a key answers.
        if attempt.demandsRelayKey, !attempt.hasCookie, roundCount % 4 == 3 {
            attempt.writeHello(into: &buffer)
        } else {
            attempt.write(min(position, attempt.datagramCount - 1), into: &buffer)
        }
        sentAt = now
        position += 1
        if position >= attempt.datagramCount {
            position = 0
            roundCount += 1
            deadline = now + Self.interval
        }
        return true
    }

    func isOver(at now: Instant) -> Bool {
        outcome != nil || now >= end || failure.map { Reachability($0) == .refused } ?? false && !attempt.hasCookie
    }

    func nextDeadline(at now: Instant) -> Instant? { isOver(at: now) ? nil : min(deadline, end) }

    /// The result so far. `words` gives the text of an errno.
    func answer(_ words: (Int32) -> String) -> RelayFacts.Answer {
        switch outcome {
        case .welcome(let time, _, let address): return .welcome(time, seenAt: "\(address)")
        case .refusal(let reason): return .refusal(reason)
        case nil: break
        }
        if attempt.hasCookie { return .onlyCookie }
        if let doubt { return .doubt(doubt) }
        if let otherVersion { return .otherVersion(otherVersion) }
        if heardOther { return .otherProtocol }
        guard let failure else { return .silent }
        return Reachability(failure) == .refused ? .refused : .notSent(failure, words(failure))
    }
}

extension Endpoint {
    init(_ address: PeerAddress) {
        if let v4 = address.v4 {
            self.init(.v4(v4), port: address.port)
        } else {
            let number = address.v6 ?? 0
            self.init(
                .v6(high: UInt64(number >> 64), low: UInt64(truncatingIfNeeded: number), scope: 0), port: address.port)
        }
    }
}
