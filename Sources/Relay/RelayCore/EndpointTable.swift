internal import TenfourSession

/// A hash table from transport addresses to members: open addressing, at most two thirds full, 8 bytes per slot.
///
/// The hash is keyed with random numbers, so that nobody can choose addresses that all collide.
struct EndpointTable: Sendable {
    private var slots = [Slot](repeating: Slot(), count: 64)
    private var count = 0
    private let seeds: (UInt64, UInt64, UInt64)

    private struct Slot: Sendable {
        var hash: UInt32 = 0
        /// The member's number plus one; zero if the slot is free.
        var member: UInt32 = 0
    }

    init(using generator: inout some RandomNumberGenerator) {
        seeds = (generator.next(), generator.next(), generator.next() | 1)
    }

    /// Iterates over the members whose address has the hash that is searched. Some of them may have another address
    /// with the same hash.
    struct Search {
        fileprivate var slot: Int
        fileprivate let hash: UInt32
    }

    func search(_ endpoint: Endpoint) -> Search {
        let hash = hash(endpoint)
        return Search(slot: Int(hash) & (slots.count - 1), hash: hash)
    }

    func next(_ search: inout Search) -> MemberID? {
        while true {
            let slot = slots[search.slot]
            guard slot.member > 0 else { return nil }
            search.slot = (search.slot + 1) & (slots.count - 1)
            if slot.hash == search.hash { return MemberID(Int(slot.member) - 1) }
        }
    }

    mutating func insert(_ member: MemberID, at endpoint: Endpoint) {
        if (count + 1) * 3 > slots.count * 2 { grow() }
        put(Slot(hash: hash(endpoint), member: UInt32(member.number + 1)))
        count += 1
    }

    /// Removes `member`, which was inserted with the same `endpoint`.
    mutating func remove(_ member: MemberID, at endpoint: Endpoint) {
        let mask = slots.count - 1
        var hole = Int(hash(endpoint)) & mask
        while slots[hole].member != UInt32(member.number + 1) {
            guard slots[hole].member > 0 else { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        // Moves the following entries up, so that no search stops at the hole before it reaches them.
        var next = (hole + 1) & mask
        while slots[next].member > 0 {
            let home = Int(slots[next].hash) & mask
            if (next - home) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = Slot()
    }

    private mutating func put(_ new: Slot) {
        var slot = Int(new.hash) & (slots.count - 1)
        while slots[slot].member > 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = new
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(), count: old.count * 2)
        for entry in old where entry.member > 0 { put(entry) }
    }

    private func hash(_ endpoint: Endpoint) -> UInt32 {
        let (high, low): (UInt64, UInt64) =
            switch endpoint.address {
            case .v4(let number): (0xFFFF, UInt64(number))
            case .v6(let high, let low, let scope): (high, low ^ UInt64(scope) << 32)
            }
        let mixed = folded(high ^ seeds.0, low ^ seeds.1) ^ UInt64(endpoint.port)
        return UInt32(truncatingIfNeeded: folded(mixed, seeds.2))
    }
}
