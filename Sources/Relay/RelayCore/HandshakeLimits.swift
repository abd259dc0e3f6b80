internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// Limits on handshakes: answers to senders that have not proved a key, JOINs with a wrong proof, and the rate at which
/// members join.
struct HandshakeLimits: Sendable {
    /// Limits HELLOs, and JOINs without a valid cookie, per host.
    private var strangers: AddressLimits
    /// Limits JOINs with a wrong proof, per host.
    private var failures: AddressLimits
    /// Limits the answers to records with an unknown session id, per host.
    private var unknownSessions: AddressLimits
    /// Limits JOINs with a valid proof, per host.
    private var hostJoins: AddressLimits
    /// Limits JOINs with a valid proof, of all hosts together.
    private var joins = CellRateLimit()

    private static let failurePrice = CellRateLimit.Price(perSecond: 20, most: 20)
    private static let strangerPrice = CellRateLimit.Price(perSecond: 20, most: 2_000)
    /// The rate limit of JOINs with a valid proof per host. It lets 500 members behind one address join again at the
    /// same time, several times in succession.
    private static let hostJoinPrice = CellRateLimit.Price(perSecond: 200, most: 2_000)
    /// The rate limit of JOINs with a valid proof of all hosts together.
    private static let joinPrice = CellRateLimit.Price(perSecond: 5_000, most: 5_000)

    init(using generator: inout CSPRNG) {
        strangers = AddressLimits(Self.strangerPrice, seed: generator.next())
        failures = AddressLimits(Self.failurePrice, seed: generator.next())
        unknownSessions = AddressLimits(Self.failurePrice, seed: generator.next())
        hostJoins = AddressLimits(Self.hostJoinPrice, seed: generator.next())
    }

    /// Counts a HELLO, or a JOIN without a valid cookie, against the limit of its host. Returns false if the limit is
    /// exceeded; the caller must not answer such a datagram.
    mutating func allowsStranger(at address: IPAddress, _ now: Instant) -> Bool { strangers.spend(address, at: now) }

    /// Subtracts one HELLO from the count of the sender's host, because the sender has become a member.
    mutating func strangerJoined(at address: IPAddress) { strangers.giveBack(address) }

    /// Whether the proof of a JOIN from this host may be checked: the host has not exceeded the limit of wrong proofs.
    func allowsProof(at address: IPAddress, _ now: Instant) -> Bool { failures.allows(address, at: now) }

    mutating func proofFailed(at address: IPAddress, _ now: Instant) { _ = failures.spend(address, at: now) }

    /// Counts a record with an unknown session id against the limit of its host. Returns false if the limit is
    /// exceeded; the caller must not answer such a record.
    mutating func allowsUnknownSession(at address: IPAddress, _ now: Instant) -> Bool {
        unknownSessions.spend(address, at: now)
    }

    /// Counts a member that joins against the limits of its host and of all hosts. Returns false if a limit is
    /// exceeded; the caller must refuse such a member.
    mutating func allowsJoin(at address: IPAddress, _ now: Instant) -> Bool {
        hostJoins.spend(address, at: now) && joins.spend(Self.joinPrice, at: now)
    }
}

/// Limits on the retransmissions that members request, counted in NACK words, each of which names up to 17 packets (RFC
/// 4585 section 6.2.1).
struct NACKLimits: Sendable {
    private var hosts: AddressLimits
    private var networks: AddressLimits
    private var all = CellRateLimit()

    private static let hostPrice = CellRateLimit.Price(perSecond: 5_000, most: 10_000)
    /// The rate of NACK words that members of one network may always send, even if the limit of all members together is
    /// used up.
    private static let networkPrice = CellRateLimit.Price(perSecond: 200, most: 400)
    /// The rate limit of NACK words of all members together, chosen so that the retransmissions take about a tenth of
    /// the relay's processing time.
    private static let allPrice = CellRateLimit.Price(perSecond: 200_000, most: 20_000)

    init(using generator: inout CSPRNG) {
        hosts = AddressLimits(Self.hostPrice, seed: generator.next())
        networks = AddressLimits(Self.networkPrice, of: .network, seed: generator.next())
    }

    /// Counts NACK words against the limits. Returns false if the words exceed the limits.
    mutating func spend(_ address: IPAddress, wordCount count: Int, at now: Instant) -> Bool {
        if count == 0 { return true }
        guard hosts.spend(address, count: count, at: now) else { return false }
        return networks.spend(address, count: count, at: now) || all.spend(Self.allPrice, count: count, at: now)
    }
}
