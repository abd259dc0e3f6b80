internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// Limits on PLACEs, MEETs and LEAVEs with a right cookie, and on wrong numbers.
struct RendezvousLimits: Sendable {
    /// Limits PLACEs, MEETs and LEAVEs, per host.
    private var requests: AddressLimits
    /// Limits wrong numbers, per host.
    private var wrongNumbers: AddressLimits
    /// Limits wrong numbers of IPv6, per network. An IPv4 network has none, because strangers in it could keep the others
    /// from naming a right number.
    private var wrongNumbersOfNetwork: AddressLimits

    /// The number of rows of the limits of pairing. They remember 16 384 hosts, so that a thousand strangers do not make
    /// them forget each other, and then have their bursts of wrong numbers anew.
    static let rowCount = 4_096
    private static let requestPrice = CellRateLimit.Price(perSecond: 10, most: 40)
    private static let wrongNumberPrice = CellRateLimit.Price(perSecond: 1.0 / 60, most: 3)
    private static let wrongNumberOfNetworkPrice = CellRateLimit.Price(perSecond: 1, most: 64)

    init(using generator: inout CSPRNG) {
        requests = AddressLimits(Self.requestPrice, rowCount: Self.rowCount, seed: generator.next())
        wrongNumbers = AddressLimits(Self.wrongNumberPrice, rowCount: Self.rowCount, seed: generator.next())
        wrongNumbersOfNetwork = AddressLimits(
            Self.wrongNumberOfNetworkPrice, of: .network, rowCount: Self.rowCount, seed: generator.next())
    }

    /// Counts a PLACE, MEET or LEAVE with a right cookie. Returns false if its host sends too many; the caller must not answer
    /// it.
    mutating func allowsRequest(from address: IPAddress, at now: Instant) -> Bool { requests.spend(address, at: now) }

    /// Whether a number that this host names may be looked up. It must be asked before, because the answer would be a
    /// further guess otherwise.
    func allowsNumber(from address: IPAddress, at now: Instant) -> Bool {
        guard wrongNumbers.allows(address, at: now) else { return false }
        guard case .v6 = address else { return true }
        return wrongNumbersOfNetwork.allows(address, at: now)
    }

    mutating func countWrongNumber(from address: IPAddress, at now: Instant) {
        _ = wrongNumbers.spend(address, at: now)
        if case .v6 = address { _ = wrongNumbersOfNetwork.spend(address, at: now) }
    }
}
