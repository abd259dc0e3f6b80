internal import TenfourAudioCore
internal import TenfourChannelKeys

/// The parts that all pairs of a member share: the datagrams on their way out, the bounds, and the counters.
struct DirectOutput: Sendable {
    private var budget = ProbeBudget()
    private var datagrams: [(address: PeerAddress, bytes: [UInt8])] = []
    /// One counter for the probes of all pairs, so that none is used twice when a member goes and comes.
    private var probeCounter: UInt64 = 0
    private(set) var discards: [DirectDiscard: UInt64] = [:]
    /// The moment from which the next probe to an address that has not proved itself may be sent.
    private(set) var nextProbe: Instant?

    static let pause: Duration = .milliseconds(50)
    private static let maximumDatagramCount = 64

    mutating func discard(_ reason: DirectDiscard) { discards[reason, default: 0] += 1 }

    func allowsProbe(at now: Instant) -> Bool { nextProbe.map { now >= $0 } ?? true }

    /// Takes the room for a datagram to an address that has not proved itself.
    mutating func spend(
        _ purpose: ProbeBudget.Purpose, to address: PeerAddress, of index: UInt16, at now: Instant
    ) -> Bool {
        guard budget.spend(purpose, to: address, of: index, at: now) else {
            discard(.boundReached)
            return false
        }
        if purpose != .echo { nextProbe = now + Self.pause }
        return true
    }

    mutating func answered(_ address: PeerAddress) { budget.answered(address) }

    /// Sends a probe or an echo. Returns false if too many datagrams wait.
    @discardableResult
    mutating func send(
        _ number: UInt64, isEcho: Bool, to address: PeerAddress, from sender: UInt16, to receiver: UInt16,
        key: SecretBytes
    ) -> Bool {
        guard datagrams.count < Self.maximumDatagramCount else { return false }
        probeCounter += 1
        let probe = DirectProbe(
            from: sender, to: receiver, counter: probeCounter, number: number, isEcho: isEcho, key: key)
        datagrams.append((address, probe.bytes))
        return true
    }

    mutating func nextDatagram() -> (address: PeerAddress, bytes: [UInt8])? {
        datagrams.isEmpty ? nil : datagrams.removeFirst()
    }
}
