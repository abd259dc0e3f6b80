internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourSession

/// Rate limits per source address, in a hash table of fixed size: rows of four entries. The key is the prefix of a
/// host or of a site's network, depending on `Scope`.
///
/// An address without an entry has used nothing of its limit. If a row is full, a new address replaces the entry that
/// has used the least of its limit.
struct AddressLimits: Sendable {
    private var entries: [Entry]
    private let seed: UInt64
    private let price: CellRateLimit.Price
    private let scope: Scope
    private let rowCount: Int

    /// The set of addresses that share one limit: a host (an IPv4 address, or an IPv6 /64, which belongs to one
    /// customer), or a site's network (an IPv4 /24 or an IPv6 /48).
    enum Scope: Sendable {
        case host, network

        fileprivate func prefix(of address: IPAddress) -> UInt64 {
            self == .host ? address.hostPrefix : address.networkPrefix
        }
    }

    private struct Entry: Sendable {
        var prefix: UInt64 = 0
        var allowance = CellRateLimit()
    }

    private static let rowLength = 4

    /// `rowCount` rows of four entries remember the addresses. An attacker with more addresses than entries has the
    /// burst of each anew.
    init(_ price: CellRateLimit.Price, of scope: Scope = .host, rowCount: Int = 256, seed: UInt64) {
        self.rowCount = rowCount
        self.price = price
        self.scope = scope
        self.seed = seed
        entries = [Entry](repeating: Entry(), count: rowCount * Self.rowLength)
    }

    func allows(_ address: IPAddress, at now: Instant) -> Bool {
        let prefix = scope.prefix(of: address)
        for place in row(prefix) where entries[place].prefix == prefix {
            return entries[place].allowance.allows(price, at: now)
        }
        return true
    }

    /// Counts `count` events against the limit of an address. Returns false if the events exceed the limit.
    mutating func spend(_ address: IPAddress, count: Int = 1, at now: Instant) -> Bool {
        let prefix = scope.prefix(of: address)
        var chosen = row(prefix).lowerBound
        for place in row(prefix) {
            if entries[place].prefix == prefix {
                return entries[place].allowance.spend(price, count: count, at: now)
            }
            if entries[place].allowance.moment < entries[chosen].allowance.moment { chosen = place }
        }
        entries[chosen] = Entry(prefix: prefix)
        return entries[chosen].allowance.spend(price, count: count, at: now)
    }

    /// Subtracts one event that `spend` has counted, because this event must not be limited.
    mutating func giveBack(_ address: IPAddress) {
        let prefix = scope.prefix(of: address)
        for place in row(prefix) where entries[place].prefix == prefix { entries[place].allowance.giveBack(price) }
    }

    private func row(_ prefix: UInt64) -> Range<Int> {
        let row = Int(folded(prefix ^ seed, 0x9E37_79B9_7F4A_7C15) % UInt64(rowCount))
        return row * Self.rowLength..<(row + 1) * Self.rowLength
    }
}

extension IPAddress {
    /// The prefix that identifies one access line or office: 24 bits of an IPv4 address, 64 bits of an IPv6 address.
    var linePrefix: UInt64 {
        switch self {
        case .v4(let number): 0xFFFF_FFFF_0000_0000 | UInt64(number & 0xFFFF_FF00)
        case .v6(let high, _, _): high
        }
    }
}

/// Returns a hash of two numbers: the high half of their 128-bit product XOR the low half. It depends on every bit of
/// both.
func folded(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
}
