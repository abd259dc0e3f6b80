import TenfourNetworkEmulator
import Testing

private func losses(_ loss: Loss, seed: UInt64 = 2, count: Int = 100_000) -> [Bool] {
    fates(NetworkModel(loss: loss), seed: seed, count: count).map { $0 == .lost(.chance) }
}

private func share(_ losses: [Bool]) -> Double { Double(losses.count { $0 }) / Double(losses.count) }

/// Returns the lengths of the runs of consecutive losses.
private func bursts(_ losses: [Bool]) -> [Double] {
    losses.split(separator: false).map { Double($0.count) }
}

struct LossTests {
    @Test(arguments: [0.01, 0.05, 0.1, 0.3]) func independentLossHasItsShareAndShortBursts(wanted: Double) {
        let lost = losses(.random(wanted))
        #expect(abs(share(lost) - wanted) < 4 * (wanted / 100_000).squareRoot())
        #expect(abs(mean(bursts(lost)) - 1 / (1 - wanted)) < 0.05)
    }

    @Test(arguments: [0.05, 0.1, 0.2, 0.5]) func burstsHaveTheirShareAndMeanLength(wanted: Double) {
        let lost = losses(.bursts(share: wanted, meanLength: 3))
        #expect(abs(share(lost) - wanted) < 0.01)
        #expect(abs(mean(bursts(lost)) - 3) < 0.2)
    }

    @Test func burstsGrowWhereTheShareLeavesNoRoomBetweenThem() {
        let lost = losses(.bursts(share: 0.9, meanLength: 3))
        #expect(abs(share(lost) - 0.9) < 0.01)
        #expect(abs(mean(bursts(lost)) - 9) < 0.5)
    }

    @Test func aShortRunHasTheRightShareToo() {
        // Tests the first packet alone, with many seeds: the chain does not always begin in the good state.
        let first = (0..<2000).map { losses(.bursts(share: 0.2, meanLength: 50), seed: $0, count: 1)[0] }
        #expect(abs(share(first) - 0.2) < 0.04)
    }

    @Test func nothingAndEverythingAreExact() {
        #expect(!losses(.none).contains(true))
        #expect(!losses(.random(0)).contains(true))
        #expect(!losses(.bursts(share: 0, meanLength: 3)).contains(true))
        #expect(!losses(.random(1)).contains(false))
        #expect(!losses(.bursts(share: 1, meanLength: 3)).contains(false))
    }

    @Test func aBadSpellMayLetPacketsThroughAndAGoodOneLoseSome() {
        let lost = losses(.gilbertElliott(toBad: 0.02, toGood: 0.08, lossInGood: 0.01, lossInBad: 0.5))
        // In the long run the chain is in the bad state for a fifth of the time.
        #expect(abs(share(lost) - (0.8 * 0.01 + 0.2 * 0.5)) < 0.01)
    }

    @Test func aHigherShareLosesAllThatALowerOneLoses() {
        #expect(zip(losses(.random(0.05)), losses(.random(0.1))).allSatisfy { few, more in !few || more })
    }
}
