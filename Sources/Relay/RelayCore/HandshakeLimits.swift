internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// Limits on what the relay answers to those that have not proved a key, and on how many join.
struct HandshakeLimits: Sendable {
    /// HELLOs, and JOINs without a valid cookie, of each host.
    private var strangers: AddressLimits
    /// JOINs of each host that proved nothing.
    private var failures: AddressLimits
    /// Records of unknown sessions, of each host.
    private var unknownSessions: AddressLimits
    /// Proved JOINs of each host, and of all.
    private var hostJoins: AddressLimits
    private var joins = CellRateLimit()

    private static let failurePrice = CellRateLimit.Price(perSecond: 20, most: 20)
    private static let strangerPrice = CellRateLimit.Price(perSecond: 20, most: 2_000)
    /// Five hundred members behind one address may come back together, and again.
    private static let hostJoinPrice = CellRateLimit.Price(perSecond: 200, most: 2_000)
    private static let joinPrice = CellRateLimit.Price(perSecond: 5_000, most: 5_000)

    init(using generator: inout CSPRNG) {
        strangers = AddressLimits(Self.strangerPrice, seed: generator.next())
        failures = AddressLimits(Self.failurePrice, seed: generator.next())
        unknownSessions = AddressLimits(Self.failurePrice, seed: generator.next())
        hostJoins = AddressLimits(Self.hostJoinPrice, seed: generator.next())
    }

    /// Whether a stranger is answered; if it is, it counts.
    mutating func allowsStranger(at address: IPAddress, _ now: Instant) -> Bool { strangers.spend(address, at: now) }

    /// A stranger has become a member: its handshake counts no longer.
    mutating func strangerJoined(at address: IPAddress) { strangers.giveBack(address) }

    /// Whether a host has not failed too often.
    func allowsProof(at address: IPAddress, _ now: Instant) -> Bool { failures.allows(address, at: now) }

    mutating func proofFailed(at address: IPAddress, _ now: Instant) { _ = failures.spend(address, at: now) }

    /// Whether a record of an unknown session is answered; if it is, it counts.
    mutating func allowsUnknownSession(at address: IPAddress, _ now: Instant) -> Bool {
        unknownSessions.spend(address, at: now)
    }

    /// Whether one more member may join; if it may, it counts.
    mutating func allowsJoin(at address: IPAddress, _ now: Instant) -> Bool {
        hostJoins.spend(address, at: now) && joins.spend(Self.joinPrice, at: now)
    }
}

/// Limits on the missing packets that members request, counted in NACK words, each of which names up to 17 packets.
struct NACKLimits: Sendable {
    private var hosts: AddressLimits
    private var networks: AddressLimits
    private var all = CellRateLimit()

    private static let hostPrice = CellRateLimit.Price(perSecond: 5_000, most: 10_000)
    /// A network may request these whatever all others do.
    private static let networkPrice = CellRateLimit.Price(perSecond: 200, most: 400)
    /// About a tenth of the relay's time.
    private static let allPrice = CellRateLimit.Price(perSecond: 200_000, most: 20_000)

    init(using generator: inout CSPRNG) {
        hosts = AddressLimits(Self.hostPrice, seed: generator.next())
        networks = AddressLimits(Self.networkPrice, of: .network, seed: generator.next())
    }

    /// Whether `count` NACK words are within the limits; if they are, they count.
    mutating func spend(_ address: IPAddress, wordCount count: Int, at now: Instant) -> Bool {
        if count == 0 { return true }
        guard hosts.spend(address, count: count, at: now) else { return false }
        return networks.spend(address, count: count, at: now) || all.spend(Self.allPrice, count: count, at: now)
    }
}
