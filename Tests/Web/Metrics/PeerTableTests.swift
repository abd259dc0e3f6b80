import TenfourPackets
import Testing

@testable import TenfourMetrics

/// The sums of talkers' counts, which a flood of talkers must not make unbounded.
@Suite struct PeerTableTests {
    private func counts(_ received: Int, lost: Int = 0) -> PeerCounts {
        var counts = PeerCounts()
        counts[.packetsReceived] = received
        counts[.packetsLost] = lost
        return counts
    }

    @Test func countsOfATalkerAreAddedOnce() {
        var table = PeerTable()
        for received in [10, 20, 20, 35] { table.update(SSRC(1), name: "Anna", counts(received)) }
        #expect(table.totals["Anna"]?[.packetsReceived] == 35)
    }

    @Test func aTalkerWhoBeginsAgainAddsToItsCounts() {
        var table = PeerTable()
        table.update(SSRC(1), name: "Anna", counts(10, lost: 3))
        table.update(SSRC(1), name: "Anna", counts(2, lost: 4))
        table.update(SSRC(2), name: "Anna", counts(5))
        #expect(table.totals == ["Anna": counts(17, lost: 4)])
    }

    @Test func aNameThatArrivesLaterGetsTheCountsFromThenOn() {
        var table = PeerTable()
        table.update(SSRC(1), name: nil, counts(10))
        table.update(SSRC(1), name: "Ben", counts(15))
        #expect(table.totals == [PeerTable.unnamed: counts(10), "Ben": counts(5)])
    }

    @Test func aFloodOfSourcesAndNamesMakesNoUnboundedSeries() {
        var table = PeerTable()
        for number in 0..<20_000 {
            let name = number % 2 == 0 ? "name \(number)" : nil
            table.update(SSRC(UInt32(number)), name: name, counts(1))
        }
        #expect(table.totals.count <= PeerTable.maximumNameCount + 1)
        #expect(table.totals.values.reduce(0) { $0 + $1[.packetsReceived] } == 20_000)
        #expect(table.totals[PeerTable.other]?[.packetsReceived] ?? 0 > 9_900)
    }
}
