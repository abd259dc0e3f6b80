internal import TenfourSession

/// Which members are at an address: open addressing, at most two thirds full, 8 bytes a place.
///
/// The hash is keyed by chance, so that nobody can choose addresses that all fall on one place.
struct EndpointTable: Sendable {
    private var places = [Place](repeating: Place(), count: 64)
    private var count = 0
    private let seeds: (UInt64, UInt64, UInt64)

    private struct Place: Sendable {
        var hash: UInt32 = 0
        /// From one on; zero where the place is free.
        var member: UInt32 = 0
    }

    init(using generator: inout some RandomNumberGenerator) {
        seeds = (generator.next(), generator.next(), generator.next() | 1)
    }

    /// Walks over those who may be at an address; some are elsewhere.
    struct Search {
        fileprivate var place: Int
        fileprivate let hash: UInt32
    }

    func search(_ endpoint: Endpoint) -> Search {
        let hash = hash(endpoint)
        return Search(place: Int(hash) & (places.count - 1), hash: hash)
    }

    func next(_ search: inout Search) -> Int? {
        while true {
            let place = places[search.place]
            guard place.member > 0 else { return nil }
            search.place = (search.place + 1) & (places.count - 1)
            if place.hash == search.hash { return Int(place.member) - 1 }
        }
    }

    mutating func insert(_ member: Int, at endpoint: Endpoint) {
        if (count + 1) * 3 > places.count * 2 { grow() }
        place(Place(hash: hash(endpoint), member: UInt32(member + 1)))
        count += 1
    }

    /// `member` is at `endpoint`.
    mutating func remove(_ member: Int, at endpoint: Endpoint) {
        let mask = places.count - 1
        var hole = Int(hash(endpoint)) & mask
        while places[hole].member != UInt32(member + 1) {
            guard places[hole].member > 0 else { return }
            hole = (hole + 1) & mask
        }
        count -= 1
        // Those behind move up, so that no search ends before them.
        var next = (hole + 1) & mask
        while places[next].member > 0 {
            let home = Int(places[next].hash) & mask
            if (next - home) & mask >= (next - hole) & mask {
                places[hole] = places[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        places[hole] = Place()
    }

    private mutating func place(_ new: Place) {
        var place = Int(new.hash) & (places.count - 1)
        while places[place].member > 0 { place = (place + 1) & (places.count - 1) }
        places[place] = new
    }

    private mutating func grow() {
        let old = places
        places = [Place](repeating: Place(), count: old.count * 2)
        for entry in old where entry.member > 0 { place(entry) }
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
