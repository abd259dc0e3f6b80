internal import TenfourAudioCore
internal import TenfourPacing
internal import TenfourSession

/// How often something may come from each host, in a table whose size does not depend on who comes: IPv4 addresses, and
/// IPv6 networks of 64 bits, of which one customer has all.
///
/// A host that is not in it has spent nothing. Where a row is full, the one that has the least to wait is forgotten.
struct AddressLimits: Sendable {
    private var entries: [Entry]
    private let seed: UInt64
    private let price: CellRateLimit.Price
    private let scope: Scope

    /// What counts as one: a host, or the network of a site.
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

    private static let rowCount = 256
    private static let rowLength = 4

    init(_ price: CellRateLimit.Price, of scope: Scope = .host, seed: UInt64) {
        self.price = price
        self.scope = scope
        self.seed = seed
        entries = [Entry](repeating: Entry(), count: Self.rowCount * Self.rowLength)
    }

    func allows(_ address: IPAddress, at now: Instant) -> Bool {
        let prefix = scope.prefix(of: address)
        for place in row(prefix) where entries[place].prefix == prefix {
            return entries[place].allowance.allows(price, at: now)
        }
        return true
    }

    /// Whether so many more are within the limit; then they are spent.
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

    /// One that was spent was none of those that are limited.
    mutating func giveBack(_ address: IPAddress) {
        let prefix = scope.prefix(of: address)
        for place in row(prefix) where entries[place].prefix == prefix { entries[place].allowance.giveBack(price) }
    }

    private func row(_ prefix: UInt64) -> Range<Int> {
        let row = Int(folded(prefix ^ seed, 0x9E37_79B9_7F4A_7C15) % UInt64(Self.rowCount))
        return row * Self.rowLength..<(row + 1) * Self.rowLength
    }
}

extension IPAddress {
    /// Whose one host is: an IPv4 address, 64 bits of an IPv6 address. No two of them are alike: ff00::/8 is no host's.
    var hostPrefix: UInt64 {
        switch self {
        case .v4(let number): 0xFFFF_FFFF_0000_0000 | UInt64(number)
        case .v6(let high, _, _): high
        }
    }

    /// Whose one line is, or one office: 24 bits of an IPv4 address, 64 of an IPv6 address.
    var linePrefix: UInt64 {
        switch self {
        case .v4(let number): 0xFFFF_FFFF_0000_0000 | UInt64(number & 0xFFFF_FF00)
        case .v6(let high, _, _): high
        }
    }
}

/// Both halves of a product: a number that depends on every bit of both.
func folded(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
}
