import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRelayCore

/// Who gives way when all places are taken.
struct SharedPlacesTests {
    private struct Place {
        let id: Int
        let address: IPAddress
    }

    /// The same rule, counted anew each time.
    private struct Model {
        var places: [Place] = []

        /// The newest of each group with the most, and how many that is.
        private func largest(_ prefix: (IPAddress) -> UInt64) -> (count: Int, newest: Set<Int>) {
            let groups = Dictionary(grouping: places) { prefix($0.address) }.values
            let most = groups.map(\.count).max() ?? 0
            return (most, Set(groups.filter { $0.count == most }.map { $0.last!.id }))
        }

        /// Those of whom one must give way; empty if nobody must.
        func yielding(to address: IPAddress) -> Set<Int> {
            let own = places.filter { $0.address.hostPrefix == address.hostPrefix }.count
            let near = places.filter { $0.address.networkPrefix == address.networkPrefix }.count
            let (hosts, networks) = (largest(\.hostPrefix), largest(\.networkPrefix))
            if hosts.count >= 2 { return hosts.count > 2 * own ? hosts.newest : [] }
            return own == 0 && networks.count >= 2 && networks.count > 2 * near ? networks.newest : []
        }
    }

    private func address(_ network: Int, _ host: Int) -> IPAddress {
        .v4(0x0A00_0000 + UInt32(network) << 8 + UInt32(host))
    }

    @Test func inAnyOrderTheSameGiveWayAsIfAllWereCounted() {
        var randomness = SeededRandom(seed: 8)
        var (shared, model) = (SharedPlaces<Int>(), Model())
        var (yieldedCount, keptCount) = (0, 0)
        func leave(_ id: Int) {
            guard let index = model.places.firstIndex(where: { $0.id == id }) else { return }
            shared.remove(id, at: model.places.remove(at: index).address)
        }
        for id in 0..<20_000 {
            let newcomer = address(.random(in: 1...6, using: &randomness), .random(in: 1...4, using: &randomness))
            if model.places.count == 12 {
                let expected = model.yielding(to: newcomer)
                let yielding = shared.yielding(to: newcomer)
                let isRight = yielding.map { expected.contains($0) } ?? expected.isEmpty
                if !isRight { return #expect(Bool(false), "\(id): \(yielding ?? -1) of \(expected)") }
                if let yielding { leave(yielding) } else { keptCount += 1 }
                if yielding != nil { yieldedCount += 1 }
            }
            if model.places.count < 12 {
                shared.add(id, at: newcomer)
                model.places.append(Place(id: id, address: newcomer))
            }
            if id % 5 == 4, let leaver = model.places.randomElement(using: &randomness) { leave(leaver.id) }
            if shared.count != model.places.count { return #expect(Bool(false), "\(shared.count) are counted") }
        }
        #expect(yieldedCount > 1_000 && keptCount > 1_000, "\(yieldedCount) and \(keptCount)")
    }

    /// Strangers who have a place, and want more, cannot take the only one of a host whose network has many.
    @Test func theOnlyPlaceOfAHostStaysWhileAnotherHostHasSeveral() {
        var shared = SharedPlaces<Int>()
        for host in 1...20 { shared.add(host, at: address(1, host)) }
        for id in 100..<103 { shared.add(id, at: address(2, 1)) }
        shared.add(200, at: address(3, 1))
        #expect(shared.yielding(to: address(3, 1)) == 102)
        shared.remove(102, at: address(2, 1))
        #expect(shared.yielding(to: address(3, 1)) == nil)
        #expect(shared.yielding(to: address(4, 1)) == 101)
        shared.remove(101, at: address(2, 1))
        // Now each host has one, and networks share them, but not for a second place of a host.
        #expect(shared.yielding(to: address(3, 1)) == nil)
        #expect(shared.yielding(to: address(4, 1)) == 20)
    }
}
