import TenfourAudioCore
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
        for received in [10, 20, 20, 35] { table.update(SSRC(1), name: "Anna", counts(received), at: .start) }
        #expect(table.totals["Anna"]?[.packetsReceived] == 35)
    }

    @Test func aTalkerWhoBeginsAgainAddsToItsCounts() {
        var table = PeerTable()
        table.update(SSRC(1), name: "Anna", counts(10, lost: 3), at: .start)
        table.update(SSRC(1), name: "Anna", counts(2, lost: 4), at: .start)
        table.update(SSRC(2), name: "Anna", counts(5), at: .start)
        #expect(table.totals == ["Anna": counts(17, lost: 4)])
    }

    @Test func aNameThatArrivesLaterGetsTheCountsFromThenOn() {
        var table = PeerTable()
        table.update(SSRC(1), name: nil, counts(10), at: .start)
        table.update(SSRC(1), name: "Ben", counts(15), at: .start)
        #expect(table.totals == [PeerTable.unnamed: counts(10), "Ben": counts(5)])
    }

    @Test func aFloodOfSourcesAndNamesMakesNoUnboundedSeries() {
        var table = PeerTable()
        for number in 0..<20_000 {
            let name = number % 2 == 0 ? "name \(number)" : nil
            table.update(SSRC(UInt32(number)), name: name, counts(1), at: .start)
        }
        // The names, and those without a name or a place.
        #expect(table.totals.count <= PeerTable.maximumNameCount + 2)
        #expect(table.totals.values.reduce(0) { $0 + $1[.packetsReceived] } == 20_000)
        #expect(table.totals[PeerTable.other]?[.packetsReceived] ?? 0 > 9_900)
    }

    @Test func namesThatAreGoneGiveTheirPlacesToOthers() {
        var table = PeerTable()
        let (start, end) = (Instant.start, Instant.start + PeerTable.keeping)
        for number in 0..<PeerTable.maximumNameCount {
            table.update(SSRC(UInt32(number)), name: "stranger \(number)", counts(3), at: start)
        }
        // One of them talks on. The others are there still, and silent.
        table.update(SSRC(0), name: "stranger 0", counts(4), at: start + .seconds(1))
        table.update(SSRC(5), name: "stranger 5", counts(3), at: start + .seconds(2))
        #expect(table.update(SSRC(900), name: "Anna", counts(7), at: end - .seconds(1)) == PeerTable.other)
        #expect(table.update(SSRC(900), name: "Anna", counts(9), at: end) == "Anna")
        #expect(table.totals["Anna"] == counts(2) && table.totals["stranger 0"] == counts(4))
        #expect(table.totals.count == PeerTable.maximumNameCount + 1)
        #expect(table.totals.values.reduce(0) { $0 + $1[.packetsReceived] } == 32 * 3 + 1 + 9)
    }
}
